import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { Md5Lanes, type Md5Parts } from "./md5-lanes.ts";

/** The thread behind `Md5Thread`: answers every message with the place of its slot. */
const port = parentPort;
const lanes = new Md5Lanes(workerData.memory);

function take(asked: Md5Parts): void {
  lanes.add(asked, () => port?.postMessage(asked.slot.byteOffset));
}

port?.on("message", (first: Md5Parts) => {
  take(first);
  do {
    // Whoever comes meanwhile gets a lane of his own.
    for (let next = receiveMessageOnPort(port); next !== undefined; ) {
      take(next.message);
      next = receiveMessageOnPort(port);
    }
  } while (lanes.step());
});
