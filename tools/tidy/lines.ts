import { isCode, isTest, lineRule, type Rule } from "./finding.ts";

const inTests = (path: string) => isTest(path) && isCode(path);

export const checkUnfinished: Rule = lineRule({
  rule: "unfinished",
  pattern: /\b(?:TO(?:DO)|FIX(?:ME)|X{3})\b/,
  message: "finish it, or refuse it by name",
  covers: isCode,
});

export const checkConflicts: Rule = lineRule({
  rule: "conflict",
  pattern: /^(?:<{7} |={7}$|>{7} )/,
  message: "a merge is not finished: decide for one side",
  covers: () => true,
});

export const checkSkips: Rule = lineRule({
  rule: "skip",
  pattern:
    /\b(?:test|it|describe|suite)\.(?:only|skip|todo)\b|\b(?:only|skip|todo):\s*true\b|\.(?:skip|todo)\(\s*\)/,
  message: 'a test runs, or says why it does not: { skip: "reason" }',
  covers: inTests,
});

export const checkSleeps: Rule = lineRule({
  rule: "sleep",
  pattern: /\bset(?:Timeout|Interval)\(|\btimers\/promises\b/,
  message: "tests do not wait for time to pass: advance a ManualClock, or wait for the event",
  covers: inTests,
});

export const checkMacCompare: Rule = lineRule({
  rule: "mac",
  pattern:
    /(?:mac|hmac|sig|signature)\)?\s*[!=]==(?!\s*(?:null|undefined|""))|[!=]==\s*\w*(?:mac|hmac|signature)\b(?!\.)/i,
  message: "compare signatures with timingSafeEqual",
  covers: (path) => path.startsWith("src/front/") && isCode(path) && !isTest(path),
});

export const checkMachinePaths: Rule = lineRule({
  rule: "machine",
  pattern: /(?<![\w.$-])(?:\/(?:home|root|work|Users)\/|[A-Z]:\\Users\\)\w/,
  message: "a path of one machine",
  covers: () => true,
});

export const checkLockFile: Rule = lineRule({
  rule: "lock",
  pattern: /"resolved": "http/,
  message: "no download addresses: npm config set omit-lockfile-registry-resolved true",
  covers: (path) => path === "package-lock.json",
});
