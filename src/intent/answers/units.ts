const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const STEP = 1024;

/** `10,737,418,240` → `10 GiB (10,737,418,240 bytes)`: readable, with the exact number. */
export function bytesText(bytes: number): string {
  const exact = `${grouped(bytes)} bytes`;
  return bytes < STEP ? exact : `${shortBytesText(bytes)} (${exact})`;
}

/** `10,737,418,240` → `10 GiB`. */
export function shortBytesText(bytes: number): string {
  const power = bytes < STEP ? 0 : Math.floor(Math.log(bytes) / Math.log(STEP));
  const index = Math.min(power, UNITS.length - 1);
  return `${+(bytes / STEP ** index).toFixed(1)} ${UNITS[index]}`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `12 min ago`, `3 h ago`, `5 days ago`; an age below a minute, or a time to come, is `just now`. */
export function ageText(at: Date, now: Date): string {
  const ms = now.getTime() - at.getTime();
  if (ms < MINUTE_MS) return 'just now';
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  return ms < 2 * DAY_MS
    ? `${Math.floor(ms / HOUR_MS)} h ago`
    : `${Math.floor(ms / DAY_MS)} days ago`;
}

/** `5430.4` → `1 h 30 min 30 s (5,430 s)`; below a minute with tenths of a second. */
export function durationText(seconds: number): string {
  if (seconds < 59.95) return `${+seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 3600), 'h'],
    [Math.floor((whole % 3600) / 60), 'min'],
    [whole % 60, 's'],
  ] as const;
  const words = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return `${words.join(' ')} (${grouped(whole)} s)`;
}

export function millisecondsText(ms: number): string {
  return ms < 1_000 ? `${grouped(ms)} ms` : `${+(ms / 1_000).toFixed(1)} s (${grouped(ms)} ms)`;
}

export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };
