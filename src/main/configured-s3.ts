import type { S3Keys, S3Options } from "./bytes-options.ts";
import type { Fields } from "./config-fields.ts";

/** Reads how to reach a bucket. */
export function readS3Options(fields: Fields): S3Options {
  const textOrNull = (name: string) => (fields.mayHave(name) ? fields.text(name) : null);
  const s3 = {
    endpoint: textOrNull("endpoint"),
    region: textOrNull("region"),
    addressStyle: textOrNull("addressStyle"),
    credentialsFile: textOrNull("credentialsFile"),
    caFile: textOrNull("caFile"),
    keys: readS3Keys(fields),
  };
  fields.requireNoOthers();
  return s3;
}

function readS3Keys(fields: Fields): S3Keys | null {
  const names = ["accessKeyId", "secretAccessKey", "sessionToken"];
  const given = names.filter((name) => fields.mayHave(name));
  if (given.length === 0) return null;
  return {
    accessKeyId: fields.text("accessKeyId"),
    secretAccessKey: fields.text("secretAccessKey"),
    sessionToken: given.includes("sessionToken") ? fields.text("sessionToken") : null,
  };
}
