import type { Instant } from "../base/clock.ts";
import { quotedText } from "../base/quoted-text.ts";
import type { Outcome, RestOutcome, SmbOutcome } from "../front/outcome.ts";

export const LOG_FORMATS = ["text", "json"] as const;

export type LogFormat = (typeof LOG_FORMATS)[number];

/** Formats an outcome as a line of the access log, without its end. */
export type AccessLine = (outcome: Outcome) => string;

/** docs/reference/logs.md describes both formats. */
export function accessLineIn(format: LogFormat): AccessLine {
  const timeText = isoTimes();
  const render = format === "json" ? jsonLine : textLine;
  return (outcome) => render(outcome, timeText(outcome.atMs));
}

function textLine(outcome: Outcome, time: string): string {
  const { service, remoteAddress, operation, account, auth, code } = outcome;
  const isSmb = outcome.service === "smb";
  const asked = isSmb ? smbAsked(outcome) : restAsked(outcome);
  const status = isSmb ? hex(outcome.status) : outcome.status;
  const took = `${outcome.tookMs.toFixed(1)}ms${isCut(outcome) ? " aborted" : ""}`;
  return (
    `${time} ${service} ${remoteAddress} ${asked} ${status} ` +
    `${outcome.requestBytes} ${outcome.responseBytes} ${took} ${outcome.requestId} ` +
    `${operation} ${account ?? "-"} ${auth} ${code ?? "-"}${isSmb ? smbDetails(outcome) : ""}`
  );
}

function restAsked({ method, target }: RestOutcome): string {
  return `"${method ?? "-"} ${target ?? "-"}"`;
}

function smbAsked({ operation, container, path }: SmbOutcome): string {
  const object = [container, path].filter((one) => one !== null && one !== "").join("/");
  return quotedText(object === "" ? operation : `${operation} ${object}`);
}

function smbDetails({ user, dialect, open }: SmbOutcome): string {
  let details = user === null ? "" : ` user=${quotedText(user)}`;
  if (dialect !== null) details += ` dialect=${dialect}`;
  if (open !== null) {
    const { access, shareMode, disposition } = open;
    details += ` access=${listed(access)} share=${listed(shareMode)} disposition=${disposition}`;
  }
  return details;
}

function listed(words: readonly string[]): string {
  return words.length === 0 ? "none" : words.join(",");
}

function hex(status: number): string {
  return `0x${status.toString(16).padStart(8, "0")}`;
}

function isCut(outcome: Outcome): boolean {
  return outcome.service === "smb" ? outcome.dropped : outcome.aborted;
}

/**
 * Leaves out fields that do not apply. Quotes what clients can choose; words of our own, names of
 * accounts and targets have nothing in them that JSON escapes.
 */
function jsonLine(outcome: Outcome, time: string): string {
  const { code, account, container } = outcome;
  let line = `{"time":"${time}","service":"${outcome.service}","operation":"${outcome.operation}"`;
  if (account !== null) line += `,"account":"${account}"`;
  if (container !== null) line += `,"container":${quotedText(container)}`;
  line += `,"auth":"${outcome.auth}","status":${outcome.status}`;
  if (code !== null) line += `,"code":"${code}"`;
  line +=
    `,"requestBytes":${outcome.requestBytes},"responseBytes":${outcome.responseBytes}` +
    `,"tookMs":${fixed3(outcome.tookMs)}` +
    `,"requestId":"${outcome.requestId}","remoteAddress":"${outcome.remoteAddress}"`;
  line += outcome.service === "smb" ? smbFields(outcome) : restFields(outcome);
  return `${line}}`;
}

function restFields({ method, target, clientRequestId, batchId, aborted }: RestOutcome): string {
  let fields = method === null ? "" : `,"method":"${method}"`;
  if (target !== null) fields += `,"target":"${target}"`;
  if (clientRequestId !== null) fields += `,"clientRequestId":${quotedText(clientRequestId)}`;
  if (batchId !== null) fields += `,"batchId":"${batchId}"`;
  return aborted ? `${fields},"aborted":true` : fields;
}

function smbFields({ path, user, dialect, open, dropped }: SmbOutcome): string {
  let fields = path === null ? "" : `,"path":${quotedText(path)}`;
  if (user !== null) fields += `,"user":${quotedText(user)}`;
  if (dialect !== null) fields += `,"dialect":"${dialect}"`;
  if (open !== null) {
    fields +=
      `,"access":${JSON.stringify(open.access)},"shareMode":${JSON.stringify(open.shareMode)}` +
      `,"disposition":"${open.disposition}"`;
  }
  return dropped ? `${fields},"dropped":true` : fields;
}

const SECOND_MS = 1_000;
const SECOND_CHARS = "2026-11-18T07:20:09".length;
const THREE_DIGITS = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, "0"));

/** Formats times like `toISOString`. Most lines are of the same second as the line before. */
function isoTimes(): (instant: Instant) => string {
  let second = Number.NaN;
  let prefix = "";
  return (instant) => {
    const asked = Math.floor(instant / SECOND_MS);
    if (asked !== second) {
      second = asked;
      prefix = new Date(instant).toISOString().slice(0, SECOND_CHARS);
    }
    return `${prefix}.${THREE_DIGITS[instant - asked * SECOND_MS]}Z`;
  };
}

/** Formats a duration with three digits behind the point, faster than `toFixed`. */
function fixed3(ms: number): string {
  const thousandths = Math.round(ms * 1_000);
  const whole = Math.floor(thousandths / 1_000);
  return `${whole}.${THREE_DIGITS[thousandths - whole * 1_000]}`;
}
