import type { Property } from "../base/edm.ts";
import type { FaultCode } from "../base/fault.ts";
import { KEY_BYTES_MAX } from "../base/keys.ts";
import {
  ENTITY_BYTES_MAX,
  ENTITY_KEY_CHARS_MAX,
  ENTITY_PROPERTIES_MAX,
  PROPERTY_BYTES_MAX,
  PROPERTY_NAME_CHARS_MAX,
} from "../base/limits.ts";

/** Slashes, `#`, `?`, control characters, and half surrogate pairs, which no URL can express. */
const KEY_FORBIDDEN = /[/\\#?\p{Cc}\p{Cs}]/u;
/** A C# identifier. */
const PROPERTY_NAME = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*$/u;
const UTF8_BYTES_PER_CHAR_MAX = 3;
/** Bytes of a key besides the two texts: space, table and terminators. */
const KEY_BYTES_AROUND = 11;

/** Judges the keys of an entity. */
export function judgeEntityKeys(partition: string, row: string): FaultCode | null {
  for (const text of [partition, row]) {
    if (text.length > ENTITY_KEY_CHARS_MAX) return "KeyValueTooLarge";
    if (KEY_FORBIDDEN.test(text)) return "OutOfRangeInput";
  }
  // Two texts of 1,024 letters fit, but two of 1,024 ideographs exceed the store's key length.
  const bytesMax = (partition.length + row.length) * UTF8_BYTES_PER_CHAR_MAX + KEY_BYTES_AROUND;
  if (bytesMax <= KEY_BYTES_MAX) return null;
  const bytes = keyBytes(partition) + keyBytes(row) + KEY_BYTES_AROUND;
  return bytes > KEY_BYTES_MAX ? "KeyValueTooLarge" : null;
}

/** Judges the properties of an entity, without its keys and its timestamp. */
export function judgeProperties(
  partition: string,
  row: string,
  properties: readonly Property[],
): FaultCode | null {
  if (properties.length > ENTITY_PROPERTIES_MAX) return "TooManyProperties";
  let bytes = 4 + 2 * (partition.length + row.length);
  for (const property of properties) {
    const { name } = property;
    if (name.length > PROPERTY_NAME_CHARS_MAX) return "PropertyNameTooLong";
    if (!PROPERTY_NAME.test(name)) return "PropertyNameInvalid";
    const valueBytes = bytesOf(property);
    if (valueBytes > PROPERTY_BYTES_MAX) return "PropertyValueTooLarge";
    bytes += 8 + 2 * name.length + valueBytes;
  }
  return bytes > ENTITY_BYTES_MAX ? "EntityTooLarge" : null;
}

function keyBytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  }
  return bytes;
}

/** Size of a value: text in UTF-16, others in binary form. */
function bytesOf({ type, json }: Property): number {
  switch (type) {
    case "Edm.String":
      return 2 * (json.includes("\\") ? (JSON.parse(json) as string).length : json.length - 2);
    case "Edm.Binary":
      return Buffer.byteLength(json.slice(1, -1), "base64");
    case "Edm.Boolean":
      return 1;
    case "Edm.Int32":
      return 4;
    case "Edm.Guid":
      return 16;
    default:
      return 8;
  }
}
