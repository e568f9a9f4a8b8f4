import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { Md5Lanes, type Md5Parts } from "./md5-lanes.ts";

/** The worker of `Md5Thread`. It answers each message with the place of its slot. */
const port = parentPort;
const lanes = new Md5Lanes(workerData.memory);

function take(asked: Md5Parts): void {
  lanes.add(asked, () => port?.postMessage(asked.slot.byteOffset));
}

port?.on("message", (first: Md5Parts) => {
  take(first);
  do {
    // Bodies that arrived meanwhile join the lanes before the next step.
    for (let next = receiveMessageOnPort(port); next !== undefined; ) {
      take(next.message);
      next = receiveMessageOnPort(port);
    }
  } while (lanes.step());
});
