import { type Item, SERVICE_KINDS, type ServiceKind } from "./item.ts";
import { TransferError } from "./transfer-error.ts";

/** Which objects are moved, by the names of containers, queues, tables and shares. */
export class Choice {
  readonly #patterns: readonly { readonly service: ServiceKind; readonly name: RegExp }[] | null;

  /** `blob:logs-*,table:*`; null for everything. */
  constructor(text: string | null) {
    this.#patterns = text === null ? null : text.split(",").map(patternOf);
  }

  hasService(service: ServiceKind): boolean {
    return this.#patterns?.some((pattern) => pattern.service === service) ?? true;
  }

  has(service: ServiceKind, name: string): boolean {
    if (this.#patterns === null) return true;
    return this.#patterns.some((pattern) => pattern.service === service && pattern.name.test(name));
  }

  /** The settings of services are moved with everything only. */
  hasItem(item: Item): boolean {
    if (this.#patterns === null) return true;
    switch (item.kind) {
      case "service":
        return false;
      case "container":
        return this.has("blob", item.name);
      case "blob":
        return this.has("blob", item.container);
      case "queue":
        return this.has("queue", item.name);
      case "messages":
        return this.has("queue", item.queue);
      case "table":
        return this.has("table", item.name);
      case "entities":
        return this.has("table", item.table);
      case "share":
        return this.has("file", item.name);
      default:
        return this.has("file", item.share);
    }
  }

  get isEverything(): boolean {
    return this.#patterns === null;
  }
}

function patternOf(text: string): { service: ServiceKind; name: RegExp } {
  const [kind = "", name, ...more] = text.trim().split(":");
  const service = SERVICE_KINDS.find((one) => one === kind);
  if (service === undefined || name === undefined || name === "" || more.length > 0) {
    throw new TransferError(
      `--only is a list like blob:logs-*,table:*; "${text}" is no part of one. Services are ` +
        `${SERVICE_KINDS.join(", ")}.`,
    );
  }
  const escaped = name.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
  const pattern = escaped.replaceAll("*", ".*").replaceAll("?", ".");
  return { service, name: new RegExp(`^${pattern}$`, "s") };
}
