import { SERVICE_NAMES, type ServiceName } from "./flags.ts";

/** One of the commands that the package installs. */
export interface Program {
  readonly name: string;
  /** The services that it starts. */
  readonly services: readonly ServiceName[];
  /** Whether it stands in for one of Azurite's programs, for scripts that start those. */
  readonly isAzurite: boolean;
}

/** The names in `bin` of package.json. Azurite has three services, and a program for each. */
export const PROGRAMS = {
  lazuli: { name: "lazuli", services: SERVICE_NAMES, isAzurite: false },
  azurite: { name: "azurite", services: ["blob", "queue", "table"], isAzurite: true },
  "azurite-blob": { name: "azurite-blob", services: ["blob"], isAzurite: true },
  "azurite-queue": { name: "azurite-queue", services: ["queue"], isAzurite: true },
  "azurite-table": { name: "azurite-table", services: ["table"], isAzurite: true },
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof PROGRAMS;
