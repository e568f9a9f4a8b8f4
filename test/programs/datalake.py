"""Works through a file system with the Python SDK. Arguments: URL, key, file system, kind."""

import sys
from concurrent.futures import ThreadPoolExecutor

from azure.core import MatchConditions
from azure.core.exceptions import (
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)
from azure.storage.filedatalake import ContentSettings, DataLakeServiceClient

url, key, name, kind = sys.argv[1:]
is_hierarchical = kind == "hierarchical"


def refused(error, call):
    try:
        call()
    except error as found:
        return found
    raise AssertionError("it was not refused")


service = DataLakeServiceClient(url, credential=key)
lake = service.create_file_system(name, metadata={"a": "1"})
assert lake.get_file_system_properties().metadata == {"a": "1"}
assert name in [one.name for one in service.list_file_systems()]
refused(ResourceExistsError, lambda: service.create_file_system(name))

# Files: create, append in parallel and out of order, flush, read.
data = bytes(range(256)) * 4096
size = 64 * 1024
lake.get_directory_client("d").create_directory()
file = lake.get_file_client("d/e f/ü.bin")
file.create_file(content_settings=ContentSettings(content_type="a/b"), metadata={"m": "x"})
positions = list(range(0, len(data), size))
with ThreadPoolExecutor(4) as pool:
    for done in pool.map(
        lambda at: file.append_data(data[at : at + size], at, size), reversed(positions)
    ):
        pass
error = refused(HttpResponseError, lambda: file.flush_data(len(data) - 1))
assert error.error_code == "InvalidFlushPosition", error.error_code
before = file.get_file_properties()
assert before.size == 0
file.flush_data(len(data))
assert file.download_file().readall() == data
assert file.download_file(offset=10, length=5).readall() == data[10:15]
properties = file.get_file_properties()
assert properties.size == len(data)
assert properties.etag != before.etag
assert properties.content_settings.content_type == "a/b"
assert properties.metadata["m"] == "x"
file.set_metadata({"n": "y"})
assert file.get_file_properties().metadata == {"n": "y"}
file.set_http_headers(ContentSettings(content_type="c/d"))
assert file.get_file_properties().content_settings.content_type == "c/d"
file.upload_data(b"short", overwrite=True, chunk_size=2)
assert file.download_file().readall() == b"short"

# Conditions and leases.
etag = file.get_file_properties().etag
refused(
    ResourceModifiedError,
    lambda: file.delete_file(etag="0x1", match_condition=MatchConditions.IfNotModified),
)
lease = file.acquire_lease()
refused(HttpResponseError, lambda: file.append_data(b"x", 5, 1))
file.append_data(b"!", 5, 1, lease=lease)
file.flush_data(6, lease=lease)
lease.release()
assert file.download_file().readall() == b"short!"

# Directories: listings, renames, deletes.
def paths(**more):
    return [p.name + ("/" if p.is_directory else "") for p in lake.get_paths(**more)]


assert paths(recursive=False) == ["d/"]
assert "d/e f/ü.bin" in paths()
refused(ResourceNotFoundError, lambda: paths(path="none"))
assert lake.get_directory_client("d").exists()
moved = lake.get_directory_client("d").rename_directory(name + "/n")
assert "n/e f/ü.bin" in paths() and "d/" not in paths()
file = lake.get_file_client("n/e f/ü.bin").rename_file(name + "/plain")
assert file.download_file().readall() == b"short!"
for at in range(5):
    lake.get_file_client("many/%d" % at).create_file()
pages = list(lake.get_paths(path="many", max_results=2).by_page())
assert [len(list(page)) for page in pages] == [2, 2, 1]
lake.delete_directory("many")
assert not lake.get_directory_client("many").exists()

if is_hierarchical:
    control = file.get_access_control()
    assert control["owner"] == "$superuser" and control["permissions"] == "rw-r-----", control
    file.set_access_control(permissions="rwxr-x--x")
    assert file.get_access_control()["permissions"] == "rwxr-x--x"
    file.set_access_control(acl="user::rwx,user:11111111-2222-3333-4444-555555555555:r--,group::r-x,mask::r-x,other::---")
    assert file.get_access_control()["permissions"].endswith("+")
    directory = lake.create_directory("acl", permissions="rwxrwxrwx", umask="0000")
    directory.create_file("f")
    changes = directory.update_access_control_recursive(acl="user:11111111-2222-3333-4444-555555555555:rwx")
    assert changes.counters.files_successful == 1, changes
    file.set_file_expiry("RelativeToNow", expires_on=100000)
    assert file.get_file_properties().expiry_time is not None
    root = lake._get_root_directory_client()
    assert root.get_access_control()["owner"] == "$superuser"
else:
    error = refused(HttpResponseError, file.get_access_control)
    assert error.error_code == "HierarchicalNamespaceNotEnabled", error.error_code

file.delete_file()
lake.delete_file_system()
print("done")
