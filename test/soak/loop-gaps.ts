// Loaded into the server with `NODE_OPTIONS=--import=…`: measures the CPU time between iterations
// of its event loop.
import { openSync, readSync } from "node:fs";
import { createServer } from "node:net";
import { isMainThread } from "node:worker_threads";

/**
 * Measures CPU time of the event loop's thread, not elapsed time, so that other programs and
 * threads do not count. Prints the port of a socket that returns the longest gap in milliseconds
 * since it was last asked.
 */
if (isMainThread && process.argv[1]?.endsWith("lazuli.cjs") === true) measure();

function measure(): void {
  const file = openSync("/proc/thread-self/schedstat", "r");
  const bytes = Buffer.alloc(64);
  const cpuMs = () => {
    // The kernel updates the figure when this one is read.
    process.cpuUsage();
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return Number.parseInt(bytes.toString("latin1", 0, length), 10) / 1e6;
  };
  let last = cpuMs();
  let longestMs = 0;
  const onIteration = () => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    setImmediate(onIteration).unref();
  };
  setImmediate(onIteration).unref();
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
