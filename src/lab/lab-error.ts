/** A request to the lab that cannot be done. The message says what is allowed. */
export class LabError extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.name = "LabError";
    this.status = status;
  }
}
