import {
  AzureNamedKeyCredential,
  TableClient,
  TableServiceClient,
  type TableServiceClientOptions,
} from "@azure/data-tables";
import { TableRestService } from "../../src/front/rest/table/table-rest-service.ts";
import { type RawAnswer, type RawAsked, rawRequest } from "./raw-request.ts";
import { CREDENTIAL, startService, type TestServerOptions, type TestService } from "./server.ts";

/** A Table service for one test, with a manual clock. */
export interface TableServer extends TestService {
  client(): TableServiceClient;
  table(name: string): TableClient;
  /** Creates a table with a unique name. */
  makeTable(): Promise<TableClient>;
}

/** No retries, so that a test sees the first response. */
export const CLIENT_OPTIONS: TableServiceClientOptions = {
  allowInsecureConnection: true,
  retryOptions: { maxRetries: 0 },
};

export async function startTableServer(options: TestServerOptions = {}): Promise<TableServer> {
  const service = await startService(TableRestService, options);
  const credential = new AzureNamedKeyCredential(service.account, service.key);
  const table = (name: string) => new TableClient(service.url, name, credential, CLIENT_OPTIONS);
  let count = 0;
  return {
    ...service,
    table,
    client: () => new TableServiceClient(service.url, credential, CLIENT_OPTIONS),
    async makeTable() {
      const made = table(`Table${++count}`);
      await made.createTable();
      return made;
    },
  };
}

/** Sends exactly this request, signed with SharedKey as the Table service requires. */
export async function tableRequest(server: TestService, asked: RawAsked): Promise<RawAnswer> {
  const method = asked.method ?? "GET";
  const date = new Date().toUTCString();
  const headers: Record<string, string> = { "x-ms-date": date, ...asked.headers };
  if (asked.body !== undefined) headers["content-type"] ??= "application/json";
  const url = new URL(server.url + asked.path);
  const comp = url.searchParams.get("comp");
  const resource = `/${server.account}${url.pathname}${comp === null ? "" : `?comp=${comp}`}`;
  const lines = [method, "", headers["content-type"] ?? "", date, resource];
  const signature = CREDENTIAL.computeHMACSHA256(lines.join("\n"));
  if (asked.signed ?? true) headers.authorization = `SharedKey ${server.account}:${signature}`;
  return rawRequest(server, { version: "2019-02-02", ...asked, headers, signed: false });
}

/** Returns `[status, code]` of a response, for tests of refusals. */
export async function outcome(answer: Promise<RawAnswer>): Promise<[number, string]> {
  const { status, code } = await answer;
  return [status, code];
}
