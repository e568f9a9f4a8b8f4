import { Fault } from "../../../base/fault.ts";

// Pure: the console's page imports it, too.

/**
 * Makes a 403. `detail` is the service's own sentence if known; `reason` is ours, and tells the
 * client's developer what to check.
 */
export function authenticationFailed(detail: string, reason?: string): Fault {
  return new Fault("AuthenticationFailed", detailOf(detail, reason));
}

/** No key of the account makes the signature of this request. */
export class SignatureMismatch extends Fault {
  /** What the server signed. */
  readonly stringToSign: string;

  constructor(detail: string, reason: string, stringToSign: string) {
    super("AuthenticationFailed", detailOf(detail, reason));
    this.stringToSign = stringToSign;
  }
}

export function detailOf(detail: string, reason?: string): Record<string, string> {
  const sentence = { AuthenticationErrorDetail: detail };
  return reason === undefined ? sentence : { ...sentence, Reason: reason };
}

/** Escapes control characters, except line ends, which a string to sign contains. */
export function printable(text: string): string {
  let shown = "";
  for (const char of text) shown += isControl(char) && char !== "\n" ? escaped(char) : char;
  return shown;
}

/** Formats text on one line, in quotes. */
export function readable(text: string): string {
  return `'${printable(text).replaceAll("\n", "\\n")}'`;
}

function isControl(char: string): boolean {
  return char < " " || char === "\x7f";
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
