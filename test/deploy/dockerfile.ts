import { readFileSync } from "node:fs";

/** An instruction of a Dockerfile, its lines joined. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Reads the instructions of the last stage, which becomes the image. */
export function lastStage(file: string): Instruction[] {
  const text = readFileSync(file, "utf8")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "");
  const all = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", ...rest] = line.split(" ");
      return { name, text: rest.join(" ") };
    });
  return all.slice(all.findLastIndex(({ name }) => name === "FROM"));
}
