// Loaded into the server with `NODE_OPTIONS=--import=…`: measures the CPU time between turns of its event loop.
import { openSync, readSync } from "node:fs";
import { createServer } from "node:net";
import { isMainThread } from "node:worker_threads";

/**
 * CPU time of the thread that runs the event loop, not the time that passes: what other programs on the
 * machine take does not count, nor does the work of other threads. Prints the port of a socket that tells
 * the longest gap in milliseconds since the last time somebody asked.
 */
if (isMainThread && process.argv[1]?.endsWith("lazuli.cjs") === true) measure();

function measure(): void {
  const file = openSync("/proc/thread-self/schedstat", "r");
  const bytes = Buffer.alloc(64);
  const cpuMs = () => {
    // The kernel brings the figure up to date when it is asked for this one.
    process.cpuUsage();
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return Number.parseInt(bytes.toString("latin1", 0, length), 10) / 1e6;
  };
  let last = cpuMs();
  let longestMs = 0;
  const onTurn = () => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    setImmediate(onTurn).unref();
  };
  setImmediate(onTurn).unref();
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end(String(longestMs));
    longestMs = 0;
  });
  server.unref();
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object") process.stdout.write(`Gaps at port ${address?.port}\n`);
  });
}
