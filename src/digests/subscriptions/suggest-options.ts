import { nearest } from '../../base/text.ts';
import { DAYS, TimeOfDaySchema } from '../../config/digest-options.ts';

// Suggestions for invalid options of a digest. They are offered and never used directly.

/** `9`, `9.30`, `9pm` → `09:00`, `09:30`, `21:00` */
export function timesNear(typed: string): readonly string[] {
  const [, hour, minute = '00', half = ''] =
    /^(\d{1,2})(?:[:.h](\d\d))?\s*([ap])?m?$/i.exec(typed.trim()) ?? [];
  if (hour === undefined) return [];
  const isHalf = half !== '' && Number(hour) <= 12;
  const ofDay = isHalf ? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : hour;
  const time = `${String(ofDay).padStart(2, '0')}:${minute}`;
  return TimeOfDaySchema.safeParse(time).success ? [time] : [];
}

/** Also by the city alone: `berlin` → `Europe/Berlin`. */
export function zonesNear(typed: string): readonly string[] {
  const zones = Intl.supportedValuesOf('timeZone');
  const cities = new Map(zones.map((zone) => [zone.split('/').at(-1) ?? zone, zone]));
  const found = nearest(typed.replaceAll(' ', '_'), [...zones, ...cities.keys()]);
  return [...new Set(found.map((one) => cities.get(one) ?? one))];
}

/** `monday, thr` → `mon,thu`; none if a word is similar to no day. */
export function daysNear(typed: string): readonly string[] {
  const words = typed.split(/[\s,]+/).filter(Boolean);
  const near = words.map((word) => dayNear(word.toLowerCase()));
  return near.length > 0 && !near.includes(null) ? [[...new Set(near)].join(',')] : [];
}

function dayNear(word: string): string | null {
  return DAYS.find((day) => word.startsWith(day)) ?? nearest(word, DAYS, 1)[0] ?? null;
}
