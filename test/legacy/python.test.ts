import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { skipWithoutLegacyPython, skipWithoutLegacyTables } from "../programs/legacy-python.ts";
import { PYTHON } from "../programs/python.ts";
import { startFileServer } from "../sdk/file-server.ts";
import { startQueueServer } from "../sdk/queue-server.ts";
import { forThisFile, OTHER_ACCOUNT, startServer, type TestService } from "../sdk/server.ts";
import { startTableServer } from "../sdk/table-server.ts";

/** Far more than it needs on a busy machine: it ends a client that hangs. */
const PYTHON_MS_MAX = 5 * 60_000;
const SDKS = ["2015_04_05", "2017_04_17", "2017_11_09", "2018_11_09"] as const;

/**
 * The beginning of every script. `name` is different for each SDK. Failed requests are not retried,
 * so that a test ends at once.
 */
const BEGIN = `
import sys
from importlib import import_module
version, account, key, url = sys.argv[1:5]
name = "v" + version.replace("_", "")
kind = sys.argv[5]
endpoint = "%sEndpoint=%s" % (kind.capitalize(), url)
text = "DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;%s;" % (account, key, endpoint)
def service(module, service):
    made = getattr(import_module(module), service)(connection_string=text)
    made.retry = lambda context: None
    return made
sdk = "azure.multiapi.storage.v%s.%s" % (version, kind)
`;

const BLOB = `
blobs = service(sdk, "BlockBlobService")
blobs.create_container(name, metadata={"a": "b"}, public_access="blob")
lease = blobs.acquire_container_lease(name, lease_duration=-1)
assert blobs.get_container_properties(name).properties.lease.state == "leased"
blobs.release_container_lease(name, lease)
found = [one for one in blobs.list_containers(include_metadata=True) if one.name == name]
assert found[0].metadata == {"a": "b"}, found
assert blobs.get_container_acl(name).public_access == "blob"
blobs.create_blob_from_text(name, "one", "hello", metadata={"c": "d"})
assert blobs.get_blob_to_text(name, "one").content == "hello"
blobs.acquire_blob_lease(name, "one", lease_duration=15)
properties = blobs.get_blob_properties(name, "one").properties
assert (properties.lease.state, properties.content_length) == ("leased", 5)
assert blobs.break_blob_lease(name, "one", 0) == 0
blobs.snapshot_blob(name, "one")
blobs.copy_blob(name, "two", url + "/" + name + "/one")
assert blobs.get_blob_properties(name, "two").properties.copy.status == "success"
blobs.put_block(name, "blocks", b"abc", "AAAA")
assert len(blobs.get_block_list(name, "blocks", block_list_type="all").uncommitted_blocks) == 1
include = import_module(sdk).Include(snapshots=True, metadata=True, copy=True, uncommitted_blobs=True)
listed = [(one.name, one.properties.blob_type) for one in blobs.list_blobs(name, include=include)]
assert listed == [(one, "BlockBlob") for one in ["blocks", "one", "one", "two"]], listed
pages = service(sdk, "PageBlobService")
pages.create_blob(name, "pages", 2048)
pages.update_page(name, "pages", b"x" * 512, 512, 1023)
assert [(one.start, one.end) for one in pages.get_page_ranges(name, "pages")] == [(512, 1023)]
if hasattr(pages, "get_page_ranges_diff"):
    snapshot = pages.snapshot_blob(name, "pages").snapshot
    pages.clear_page(name, "pages", 512, 1023)
    changed = pages.get_page_ranges_diff(name, "pages", snapshot)
    assert [(one.start, one.end, one.is_cleared) for one in changed] == [(512, 1023, True)]
assert pages.get_blob_properties(name, "pages").properties.page_blob_sequence_number == 0
log = service(sdk, "AppendBlobService")
log.create_blob(name, "log")
assert log.append_block(name, "log", b"abc").append_offset == 0
assert log.get_blob_properties(name, "log").properties.append_blob_committed_block_count == 1
blobs.set_blob_service_properties(cors=[])
assert blobs.get_blob_service_properties().cors == []
blobs.delete_container(name)
`;

const FILE = `
files = service(sdk, "FileService")
files.create_share(name, quota=5)
assert files.get_share_properties(name).properties.quota == 5
assert [one.properties.quota for one in files.list_shares() if one.name == name] == [5]
files.create_directory(name, "dir", metadata={"a": "b"})
assert files.get_directory_properties(name, "dir").metadata == {"a": "b"}
files.create_file_from_text(name, "dir", "file", "hello")
assert files.get_file_to_text(name, "dir", "file").content == "hello"
properties = files.get_file_properties(name, "dir", "file").properties
assert properties.content_length == 5
assert [(one.start, one.end) for one in files.list_ranges(name, "dir", "file")] == [(0, 4)]
files.copy_file(name, "dir", "copy", url + "/" + name + "/dir/file")
assert files.get_file_properties(name, "dir", "copy").properties.copy.status == "success"
listed = list(files.list_directories_and_files(name, "dir"))
assert [(one.name, one.properties.content_length) for one in listed] == [("copy", 5), ("file", 5)]
assert files.get_share_stats(name) == 1
if hasattr(files, "get_share_stats_in_bytes"):
    assert files.get_share_stats_in_bytes(name) > 0
if hasattr(files, "snapshot_share"):
    snapshot = files.snapshot_share(name).snapshot
    found = files.list_shares(prefix=name, include_snapshots=True)
    assert [one.snapshot for one in found] == [snapshot, None]
if hasattr(files, "list_handles"):
    assert list(files.list_handles(name)) == []
    assert list(files.close_handles(name, handle_id="*")) == [0]
files.resize_file(name, "dir", "file", 10)
files.set_file_service_properties(cors=[])
assert files.get_file_service_properties().cors == []
`;

const QUEUE = `
queues = service(sdk, "QueueService")
queues.create_queue(name, metadata={"a": "b"})
queues.put_message(name, "hello")
assert [one.content for one in queues.peek_messages(name)] == ["hello"]
[message] = queues.get_messages(name, visibility_timeout=60)
assert (message.content, int(message.dequeue_count)) == ("hello", 1)
updated = queues.update_message(name, message.id, message.pop_receipt, 60, content="again")
assert queues.get_queue_metadata(name).approximate_message_count == 1
queues.delete_message(name, message.id, updated.pop_receipt)
assert [one.metadata for one in queues.list_queues(prefix=name, include_metadata=True)] == [{"a": "b"}]
queues.set_queue_service_properties(cors=[])
assert queues.get_queue_service_properties().cors == []
`;

const TABLE = `
tables = service("azure.cosmosdb.table.tableservice" if version == "cosmosdb" else sdk, "TableService")
name = "T" + name
tables.create_table(name)
entity = {"PartitionKey": "p", "RowKey": "r", "number": 5, "text": "hello"}
tables.insert_entity(name, entity)
assert tables.get_entity(name, "p", "r").number == 5
assert [one.text for one in tables.query_entities(name, filter="number eq 5")] == ["hello"]
tables.update_entity(name, dict(entity, number=6))
assert tables.get_entity(name, "p", "r").number == 6
assert name in [one.name for one in tables.list_tables()]
assert tables.get_table_acl(name) == {}
tables.delete_entity(name, "p", "r")
tables.set_table_service_properties(cors=[])
assert tables.get_table_service_properties().cors == []
`;

async function run(server: TestService, kind: string, version: string, script: string) {
  const { account, key } = server;
  // The SDK of 2015 takes the development account for an emulator's, which has no files.
  const url = server.url.replace(account, OTHER_ACCOUNT);
  const args = ["-c", BEGIN + script, version, OTHER_ACCOUNT, key, url, kind];
  await promisify(execFile)(PYTHON, args, { timeout: PYTHON_MS_MAX });
}

const SERVICES = {
  blob: { script: BLOB, server: await forThisFile(startServer()) },
  file: { script: FILE, server: await forThisFile(startFileServer()) },
  queue: { script: QUEUE, server: await forThisFile(startQueueServer()) },
};

for (const [kind, { script, server }] of Object.entries(SERVICES)) {
  for (const sdk of SDKS) {
    const name = `the Python SDK of ${sdk.replaceAll("_", "-")} works with the ${kind} service`;
    test(name, { skip: skipWithoutLegacyPython }, () => run(server, kind, sdk, script));
  }
}

const tables = await forThisFile(startTableServer());

test(
  "the Python SDK of 2015-04-05 works with the table service",
  {
    skip: skipWithoutLegacyPython,
  },
  () => run(tables, "table", "2015_04_05", TABLE),
);

test(
  "the Python SDK of Cosmos DB works with the table service",
  {
    skip: skipWithoutLegacyTables,
  },
  () => run(tables, "table", "cosmosdb", TABLE),
);
