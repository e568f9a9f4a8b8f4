import { linkTo } from "./way.ts";

/** The way to something, each part a link. */
export function Crumbs({ way }: { way: readonly (readonly [string, readonly string[]])[] }) {
  return (
    <nav class="crumbs" aria-label="Place">
      {way.map(([text, link], at) => (
        <span key={link.join("/")}>
          {at > 0 ? "/ " : ""}
          <a href={linkTo("browse", ...link)}>{text}</a>
        </span>
      ))}
    </nav>
  );
}
