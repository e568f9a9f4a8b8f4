// `npm run bench`: installs and builds what is missing, then measures. See bench/rows.ts.
import prepare from "./prepare.cjs";

const { build, install } = prepare;

if (install() && build()) {
  const { main } = await import("../dist/bench/main.js");
  await main(process.argv.slice(2)).catch((error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
} else {
  process.exitCode = 1;
}
