/** A write that takes longer than this is taken for one that never ends. */
export const WRITE_MS_MAX = 60_000;

/** Rejects if the disk has not answered in time: after some errors lmdb's promises never settle. */
export async function inTime(writing: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = WRITE_MS_MAX / 1_000;
    const giveUp = () => reject(new Error(`the disk has not answered for ${seconds} s`));
    timer = setTimeout(giveUp, WRITE_MS_MAX);
  });
  try {
    await Promise.race([writing, late]);
  } finally {
    clearTimeout(timer);
  }
}
