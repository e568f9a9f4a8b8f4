import type { FileHandle } from "node:fs/promises";
import type { TestContext } from "node:test";
import { fileHandles } from "./file-handles.fixture.ts";

/** Calls that hang until the test releases them. */
export interface HungCalls {
  /** Resolves once this many calls have been made since the test began. */
  made(count: number): Promise<void>;
  /** Releases all hung calls and lets later ones pass; resolves once the hung ones have ended. */
  release(): Promise<void>;
}

/** Makes a method of all file handles do its work but resolve only when released. */
export async function hang(t: TestContext, method: "datasync" | "read"): Promise<HungCalls> {
  const handles = await fileHandles();
  const real = handles[method] as (...args: unknown[]) => Promise<unknown>;
  const calls: Promise<unknown>[] = [];
  const waiting: { readonly count: number; readonly wake: () => void }[] = [];
  let open: () => void = () => {};
  const gone = new Promise<void>((resolve) => {
    open = resolve;
  });
  t.mock.method(handles, method, function (this: FileHandle, ...args: unknown[]) {
    const call = real.apply(this, args).then((done) => gone.then(() => done));
    calls.push(call);
    for (const { count, wake } of waiting) if (calls.length >= count) wake();
    return call;
  } as never);
  return {
    made: (count) =>
      new Promise((wake) => {
        if (calls.length >= count) wake();
        else waiting.push({ count, wake });
      }),
    async release() {
      open();
      await Promise.allSettled(calls);
    },
  };
}
