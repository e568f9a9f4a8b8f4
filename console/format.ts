export function countText(count: number): string {
  return count.toLocaleString("en");
}

export function msText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function timeText(ms: number): string {
  const at = new Date(ms);
  return `${at.toLocaleTimeString("en-GB")}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

export function dateText(text: string | number): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? String(text) : at.toLocaleString("en-GB");
}
