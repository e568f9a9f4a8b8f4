// How fast an SMB client can try wrong keys, and whether the right key comes in beside it. Flag: --seconds N (20).
import { parseArgs } from "node:util";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { LazuliProcess } from "../command/process.ts";
import { skipWithoutSmbclient, smbclient } from "../smb/smbclient.ts";
import { report } from "./figure.ts";

/** Concurrent guessing clients: more than the answers that the server delays at once. */
const GUESSERS = 12;
/** One key a second for each account and address, after the first ones at once. */
const GUESSES_PER_SECOND_MAX = 1;
const GUESSES_FREE = 16;
const WRONG = "devstoreaccount1%d3Jvbmc=";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "20" } } });
const seconds = Number(values.seconds);
if (!(seconds > 0)) throw new Error("--seconds takes a number above 0");

if (skipWithoutSmbclient) console.log(`Nothing was measured: ${skipWithoutSmbclient}`);
else await soak();

async function soak(): Promise<void> {
  const lazuli = new LazuliProcess(["--inMemoryPersistence", ...ANY_PORTS]);
  try {
    const port = Number(await lazuli.printed(/^SMB service .*:(\d+)\n/m));
    const untilMs = performance.now() + seconds * 1_000;
    const list = (...args: string[]) => smbclient(port, "-L //127.0.0.1", ...args);
    let [guesses, guessed] = [0, 0];
    const guess = async () => {
      while (performance.now() < untilMs) {
        const { code } = await list("-U", WRONG);
        guesses++;
        if (code === 0) guessed++;
      }
    };
    const guessing = Promise.all(Array.from({ length: GUESSERS }, guess));
    let right = 0;
    let tries = 0;
    for (; performance.now() < untilMs; tries++) if ((await list()).code === 0) right++;
    await guessing;
    const most = GUESSES_FREE + GUESSES_PER_SECOND_MAX * seconds;
    report([
      {
        promise: `wrong keys answered in ${seconds} s, to ${GUESSERS} clients at once`,
        found: `${guesses}, ${guessed} of them let in`,
        bar: `at most ${most}, none let in`,
        met: guesses <= most && guessed === 0,
      },
      {
        promise: "log-ons with the right key from the same address meanwhile",
        found: `${right} of ${tries}`,
        bar: "all",
        met: right === tries && tries > 0,
      },
    ]);
  } finally {
    await lazuli.kill();
  }
}
