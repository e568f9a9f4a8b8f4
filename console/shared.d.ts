declare global {
  /** Modules of the server that the page shares set it; browsers without it ignore that. */
  interface ErrorConstructor {
    stackTraceLimit: number;
  }
}

export {};
