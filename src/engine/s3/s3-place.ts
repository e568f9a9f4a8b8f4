import type { Bytes } from "../../base/bytes.ts";

/** A bucket, or a part of one, and how to reach it. */
export interface S3Place {
  /** `https://s3.eu-central-1.amazonaws.com`, without the bucket. */
  readonly endpoint: URL;
  readonly region: string;
  readonly bucket: string;
  /** What the names of all objects begin with: empty, or ends with a slash. */
  readonly prefix: string;
  /** Whether the bucket is in the path of a URL, and not in its host name. */
  readonly isPathStyle: boolean;
  readonly credentials: S3Credentials;
  /** Certificates of authorities to trust besides the usual ones, as PEM. */
  readonly authorities: Bytes | null;
}

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For credentials that end. */
  readonly sessionToken: string | null;
}

/** The place as users write it: `s3://bucket/prefix`. */
export function s3Url({ bucket, prefix }: Pick<S3Place, "bucket" | "prefix">): string {
  return `s3://${bucket}/${prefix}`.replace(/\/$/, "");
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** What every server signs and lists the same way. */
const PREFIX = /^[A-Za-z0-9._/-]*$/;

/** Reads `s3://bucket/prefix`. Throws an Error whose message says what is wrong with it. */
export function parseS3Url(url: string): Pick<S3Place, "bucket" | "prefix"> {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]*)(?:\/(.*))?$/.exec(url) ?? [];
  if (bucket === "") throw new Error("it names no bucket: write s3://bucket/prefix");
  if (!BUCKET.test(bucket)) {
    throw new Error(
      `"${bucket}" is no name of a bucket: it has 3 to 63 small letters, digits, dots and dashes`,
    );
  }
  const folders = path.split("/").filter((folder) => folder !== "");
  if (!PREFIX.test(path) || folders.some((folder) => /^\.+$/.test(folder))) {
    throw new Error(
      "behind the bucket there are only letters, digits, dots, dashes, underscores and slashes",
    );
  }
  return { bucket, prefix: folders.map((folder) => `${folder}/`).join("") };
}
