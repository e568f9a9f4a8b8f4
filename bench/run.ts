export interface Run {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}
