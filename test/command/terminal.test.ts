import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const LAZULI = fileURLToPath(new URL("../../../bin/lazuli.cjs", import.meta.url));
const hasPython = spawnSync("python3", ["-c", "import pty"]).status === 0;
const skip = hasPython ? false : "python3 is not installed: install it to run this";

/**
 * Starts a command in a terminal of its own, sends it SIGHUP by hand, closes the terminal, and
 * prints how it ended.
 */
const IN_A_TERMINAL = `
import os, pty, signal, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
def read_until(word):
    text = b""
    while word not in text:
        text += os.read(terminal, 4096)
read_until(b"Blob service is successfully listening")
os.kill(child, signal.SIGHUP)
read_until(b"nothing has changed")
os.close(terminal)
_, status = os.waitpid(child, 0)
print("killed by", os.WTERMSIG(status))
`;

test("a closed terminal stops the server in it; SIGHUP by hand reloads it", { skip }, async (t) => {
  const location = mkdtempSync(join(tmpdir(), "lazuli-terminal-"));
  t.after(() => rmSync(location, { recursive: true }));
  const server = [process.execPath, LAZULI, "--location", location, "--services", "blob"];
  const args = ["-c", IN_A_TERMINAL, ...server, "--blobPort", "0"];
  const python = spawn("python3", args, { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  python.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  await once(python, "close");
  assert.equal(out, "killed by 1\n", "it ends by SIGHUP");
  assert.equal(existsSync(join(location, "control.json")), false, "but it has stopped before");
});
