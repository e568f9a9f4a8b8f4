import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { startSmb } from "../smb/server.ts";
import { LinuxImage, skipWithoutLinux } from "./linux-image.ts";

/** Dialect, and further options of the mount. */
const MOUNTS = ["3.1.1,seal", "3.1.1", "3.0,seal", "3.0,sign", "2.1,sign", "2.1"];
const LARGE_BYTES = 9_000_000;
/** The address of this machine's loopback in qemu's network. */
const HOST = "10.0.2.2";
const MACHINE_MS_MAX = 5 * 60_000;

test("Linux mounts a share and works in it, encrypted, signed and plain", {
  skip: skipWithoutLinux() ?? false,
}, async (t) => {
  const image = LinuxImage.fetch();
  t.after(() => image.remove());
  const smb = await startSmb();
  t.after(() => smb.close());
  const root = smb.rest.client().getShareClient("box").rootDirectoryClient;
  const sent = randomBytes(LARGE_BYTES);
  await root.getFileClient("sent").uploadData(sent);

  // Linux keeps what it wrote until somebody else asks for it, and what it read until somebody writes.
  const meet = async (name: string) => {
    const folder = root.getDirectoryClient(name);
    const shared = folder.getFileClient("shared");
    assert.equal((await shared.downloadToBuffer()).toString(), "dirty\n", name);
    await shared.uploadRange("fresh\n", 0, 6);
    await folder.getFileClient("go").create(0);
  };
  const printed = await runLinux(image, script(smb.port), meet);
  for (const options of MOUNTS) {
    const name = nameOf(options);
    const own = new RegExp(`^=== ${name}\\r?\\n([^]*?)^=== end of ${name}$`, "m").exec(
      printed,
    )?.[1];
    assert.ok(own !== undefined, `${options}:\n${printed}`);
    const lines = own.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("=== meet"));
    const md5 = createHash("md5").update(sent).digest("hex");
    assert.deepEqual(lines, ["mounted", `${md5}  /mnt/sent`, ...WORK_PRINTS], options);
    const folder = root.getDirectoryClient(name);
    const text = await folder.getFileClient("Text moved").downloadToBuffer();
    assert.equal(text.toString(), "hello\nmore\n", options);
    const large = await folder.getFileClient("large").downloadToBuffer();
    assert.ok(large.equals(sent), options);
  }
  assert.deepEqual(smb.failures, []);
});

const MEETING = /^=== meet (\S+)\r?\n/gm;

/** What is done in a folder of its own, and what it prints if all goes well. */
const WORK = [
  "echo hello > text",
  "mv text 'Text moved'",
  "echo more >> 'text MOVED'",
  "cat 'Text moved'",
  "cp /mnt/sent large && sync && cmp large /mnt/sent && echo same",
  "truncate -s 10 short && stat -c %s short",
  "echo open > one && exec 3< one && mv one other && cat <&3; exec 3<&-; cat other",
  "exec 3< other; rm other; cat <&3; exec 3<&-; ls other 2> /dev/null || echo gone",
  // Nobody's file may be replaced while it is open; what matters is that it is refused at once.
  "echo old > open; echo new > other; exec 3< open; mv other open 2> /dev/null || cat <&3; exec 3<&-",
  "for i in $(seq 300); do : > many-$i; done; ls | grep -c many-",
  "rm many-*; ls | grep -c many-",
  "ln -s 'Text moved' link && readlink link",
  "mkdir -p a/b && rmdir a 2> /dev/null || echo full",
  'exec 3<> shared; echo dirty >&3; cat shared; echo "=== meet $(basename $PWD)"',
  "until [ -e go ]; do sleep 1; done; cat shared; exec 3>&-",
];
const WORK_PRINTS = [
  ...["hello", "more", "same", "10", "open", "open", "open", "gone", "old"],
  ...["300", "0", "Text moved", "full", "dirty", "fresh"],
];

function script(port: number): string {
  const lines = [
    "mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev",
    "ip link set lo up; ip link set eth0 up; ip addr add 10.0.2.15/24 dev eth0",
  ];
  for (const options of MOUNTS) {
    const name = nameOf(options);
    const login = `username=${ACCOUNT},password=${KEY}`;
    const all = `ip=${HOST},port=${port},${login},mfsymlinks,vers=${options}`;
    lines.push(
      `echo '=== ${name}'`,
      `if mount -t cifs -o '${all}' //${HOST}/box /mnt; then echo mounted; md5sum /mnt/sent`,
      `mkdir /mnt/${name}; cd /mnt/${name}`,
      ...WORK,
      "cd /; umount /mnt; fi",
      `echo '=== end of ${name}'`,
    );
  }
  return [...lines, "poweroff -f"].join("\n");
}

function nameOf(options: string): string {
  return options.replaceAll(/\W/g, "-");
}

/** What the machine prints until it switches itself off. It waits for `meet` when it asks for that. */
async function runLinux(
  image: LinuxImage,
  init: string,
  meet: (name: string) => Promise<void>,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-initial-"));
  const disk = join(folder, "disk");
  writeFileSync(disk, image.initialDisk(init));
  const hardware = ["-m", "768", "-nic", "user,model=virtio-net-pci", "-no-reboot"];
  const screen = ["-display", "none", "-serial", "stdio"];
  const system = ["-kernel", image.kernel, "-initrd", disk];
  const line = ["-append", "console=ttyS0 loglevel=3 panic=-1"];
  const machine = spawn("qemu-system-x86_64", [...hardware, ...screen, ...system, ...line], {
    timeout: MACHINE_MS_MAX,
    killSignal: "SIGKILL",
  });
  let printed = "";
  const met = new Set<string>();
  const failures: unknown[] = [];
  machine.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    for (const [, name = ""] of printed.matchAll(MEETING)) {
      if (met.has(name)) continue;
      met.add(name);
      // It would wait for ever.
      meet(name).catch((error) => failures.push(error) && machine.kill("SIGKILL"));
    }
  });
  machine.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await once(machine, "close");
  rmSync(folder, { recursive: true, force: true });
  if (failures.length > 0) throw failures[0];
  return printed;
}
