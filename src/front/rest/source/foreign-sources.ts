import { Fault } from "../../../base/fault.ts";
import { GIB, KIB } from "../../../base/limits.ts";
import { invalidHeader } from "../request-headers.ts";
import { type AllowedSources, SourceGuard, urlOf } from "./allowed-sources.ts";
import { type ForeignAsked, type ForeignLimits, HttpSource } from "./foreign-source.ts";
import { AUTHORIZATION_HEADER, publicUrl, type SourceUrl } from "./source-url.ts";

/** A source may take a day as long as it sends 64 KiB a minute. */
export const FOREIGN_LIMITS: ForeignLimits = {
  bytesMax: 256 * GIB,
  answerMs: 30_000,
  paceMs: 60_000,
  paceBytesMin: 64 * KIB,
  totalMs: 24 * 3_600_000,
};

/** Sources on other servers: only those that the configuration lists, by default none. */
export class ForeignSources {
  readonly #guard: SourceGuard;
  readonly #limits: ForeignLimits;

  /** Throws an Error with a sentence for the operator if the settings are invalid. */
  constructor(allowed: AllowedSources, limits: ForeignLimits = FOREIGN_LIMITS) {
    this.#guard = new SourceGuard(allowed);
    this.#limits = limits;
  }

  /** Whether the configuration lists this host itself, not just a pattern that matches. */
  lists(url: SourceUrl): boolean {
    const parsed = originOf(url);
    return parsed !== null && this.#guard.lists(parsed);
  }

  at(url: SourceUrl, asked: ForeignAsked): HttpSource {
    const parsed = originOf(url);
    if (parsed === null || !this.#guard.permits(parsed)) {
      throw new Fault("CopySourceForbidden", {
        CopySource: publicUrl(url),
        Reason:
          `This server copies from itself only. To let it fetch from there, add ` +
          `"${originText(url)}" to "copySources.origins" in the configuration file (--config).`,
      });
    }
    const isPrivate = this.#guard.permitsToken(parsed);
    if (asked.authorization !== null && !isPrivate) {
      const reason = "A token is not sent over plain http: name the source with https.";
      throw invalidHeader(AUTHORIZATION_HEADER, "…", reason);
    }
    if ((asked.key ?? null) !== null && !isPrivate) {
      const reason = "A key is not sent over plain http: name the source with https.";
      throw invalidHeader("x-ms-source-encryption-key", "…", reason);
    }
    return new HttpSource({ url, guard: this.#guard, limits: this.#limits, ...asked });
  }
}

function originText({ secure, authority }: SourceUrl): string {
  return `${secure ? "https" : "http"}://${authority}`;
}

/** Returns the origin; null if the URL is invalid. */
function originOf(url: SourceUrl): URL | null {
  return urlOf(originText(url));
}
