import { readAddress } from "../../src/engine/postgres/address.ts";
import { PostgresServer } from "../../src/engine/postgres/postgres-server.fixture.ts";
import { newTestBytes, type TestBytes } from "./test-bytes.ts";

/** How many front ends share the records of a test. Each gets some of the requests. */
export const FRONT_ENDS = Number(process.env.LAZULI_TEST_FRONT_ENDS ?? 1);

/** Empty records in a PostgreSQL database, and a place for their bytes. */
export interface TestPlace {
  readonly records: string;
  readonly bytes: TestBytes;
  /** Flags and environment for a process that uses them. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export async function openTestPlace(): Promise<TestPlace> {
  const server = await PostgresServer.start();
  const records = server.url();
  const bytes = await newTestBytes();
  const { bucket, place } = bytes;
  return {
    records,
    bytes,
    args: [
      ...["--records", records, "--bytes", place],
      ...(bucket === null ? [] : ["--s3Endpoint", bucket.endpoint.href]),
    ],
    env:
      bucket === null
        ? {}
        : {
            AWS_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
            AWS_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
          },
    async remove() {
      await bytes.remove();
      const drop = `drop schema ${readAddress(records).schema} cascade`;
      await server.withClient(records, (client) => client.query(drop));
      await server.remove();
    },
  };
}
