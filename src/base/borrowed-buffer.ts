import type { Body, Bytes } from "./bytes.ts";
import { MIB } from "./limits.ts";

/** Bytes in the memory of their lender, one part behind the other. */
export interface Loan {
  readonly parts: readonly Bytes[];
  /** Whether the borrower may write over them: nobody else looks at them. */
  readonly isScratch: boolean;
  /** Once, when nobody looks at them any more: their memory is used again. */
  giveBack(): void;
}

/** Lends bytes once, in their order. */
export interface Lender {
  /**
   * The next ones, about so many where the lender has a choice; null behind the last. Whoever asks
   * waits for the answer before he asks again, but may keep several loans at a time.
   */
  lend(bytes: number): Promise<Loan | null>;
}

/** What is sent or stored is lent so: much is on its way from the disk while one bit is looked at. */
const BIT_BYTES = 4 * MIB;

/** Bytes that nobody wants back. */
export function givenAway(parts: readonly Bytes[]): Loan {
  return { parts, isScratch: false, giveBack() {} };
}

export class WholeLender implements Lender {
  #parts: readonly Bytes[] | null;

  constructor(parts: readonly Bytes[]) {
    this.#parts = parts;
  }

  async lend(): Promise<Loan | null> {
    const parts = this.#parts;
    this.#parts = null;
    return parts === null ? null : givenAway(parts);
  }
}

/**
 * Shows one loan after the other, and gives it back when its taker is done with it; meanwhile the
 * next is asked for. A taker that says false, now or later, is shown no more.
 */
export async function eachLoan(
  lender: Lender,
  take: (parts: readonly Bytes[]) => unknown,
): Promise<void> {
  let ahead = askAhead(lender);
  try {
    for (let loan = await ahead; loan !== null; loan = await ahead) {
      ahead = askAhead(lender);
      try {
        if ((await take(loan.parts)) === false) return;
      } finally {
        loan.giveBack();
      }
    }
  } finally {
    // What was asked for in vain.
    ahead.then((loan) => loan?.giveBack()).catch(() => {});
  }
}

function askAhead(lender: Lender): Promise<Loan | null> {
  const ahead = lender.lend(BIT_BYTES);
  // It may break before anybody waits for it.
  ahead.catch(() => {});
  return ahead;
}

/** Hands over all that is lent as a body on its way in. */
export function lentBody(length: number, lender: Lender): Body {
  return { length, drain: (take) => drainLoans(lender, take) };
}

export function drainLoans(lender: Lender, take: Take): Promise<void> {
  return eachLoan(lender, async (parts) => {
    for (const part of parts) await take(part);
  });
}

type Take = Parameters<Body["drain"]>[0];

/** All that is lent, in one loan. */
export async function lendWhole(lender: Lender): Promise<Loan> {
  const loans: Loan[] = [];
  try {
    for (;;) {
      const loan = await lender.lend(Number.POSITIVE_INFINITY);
      if (loan === null) break;
      loans.push(loan);
    }
  } catch (error) {
    joined(loans).giveBack();
    throw error;
  }
  return joined(loans);
}

/** Several loans that are asked for at once, as one. */
export async function lendTogether(asked: readonly Promise<Loan>[]): Promise<Loan> {
  if (asked.length === 1) return asked[0] as Promise<Loan>;
  const results = await Promise.allSettled(asked);
  const loans: Loan[] = [];
  for (const result of results) if (result.status === "fulfilled") loans.push(result.value);
  const loan = joined(loans);
  const broken = results.find((result) => result.status === "rejected");
  if (broken === undefined) return loan;
  loan.giveBack();
  throw broken.reason;
}

function joined(loans: readonly Loan[]): Loan {
  return {
    parts: loans.flatMap(({ parts }) => parts),
    isScratch: loans.every(({ isScratch }) => isScratch),
    giveBack() {
      for (const loan of loans) loan.giveBack();
    },
  };
}

/** All of a loan in memory of one's own; it is given back. */
export function keepLoan({ parts, giveBack }: Loan): Bytes {
  const bytes = Buffer.allocUnsafe(lengthOf(parts));
  copyLent(parts, bytes);
  giveBack();
  return bytes;
}

export function lengthOf(parts: readonly Bytes[]): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}

/** Copies bytes to where there is room for them, and tells how many they were. */
export function copyLent(parts: readonly Bytes[], into: Bytes): number {
  let at = 0;
  for (const part of parts) {
    // Three times as fast as `copy`, which goes word by word where memory is shared.
    into.fill(part, at, at + part.length);
    at += part.length;
  }
  return at;
}
