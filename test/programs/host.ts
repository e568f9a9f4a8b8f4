/** What a test needs to know of the machine it runs on before it mounts or installs anything. */
export interface Host {
  readonly platform: NodeJS.Platform;
  readonly arch: NodeJS.Architecture;
  readonly isRoot: boolean;
}

export const THIS_HOST: Host = {
  platform: process.platform,
  arch: process.arch,
  isRoot: process.getuid?.() === 0,
};
