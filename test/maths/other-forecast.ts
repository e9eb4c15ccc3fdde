/**
 * The forecast of docs/costs.md once more, written from that page alone: plain loops over days, without
 * any function of the bot. `value` is undefined for a day that is not settled or has no data.
 */
export interface OtherDay {
  /** 0 for Monday. */
  readonly weekday: number;
  readonly value: number | undefined;
}

type Known = { weekday: number; value: number };

/** The expected total of the days of `span`, with its bounds. `history`: the days before today. */
export function otherForecast(history: readonly OtherDay[], span: readonly OtherDay[]) {
  const known = history
    .flatMap(({ weekday, value }) => (value === undefined ? [] : [{ weekday, value }]))
    .slice(-56);
  let [sure, open, count] = [0, 0, 0];
  const now = levelAndFactors(known);
  for (const { weekday, value } of span) {
    if (value !== undefined) sure += value;
    else {
      open += now.level * (now.factors[weekday] ?? 0);
      count += 1;
    }
  }
  const error = shareOfError(known, count);
  // The days that are not settled cost at least 0.
  const low = sure + open * Math.max(0, 1 - error);
  return { total: sure + open, low, high: sure + open * (1 + error) };
}

function shareOfError(known: readonly Known[], open: number): number {
  const errors: number[] = [];
  const horizons = open >= 14 ? [7, 14] : open > 7 ? [7, open] : [open];
  for (const ahead of horizons) {
    for (let back = 0; back < 35; back += 1) {
      const origin = known.length - ahead - back;
      if (origin < 10) break;
      const { level, factors } = levelAndFactors(known.slice(0, origin));
      let [expected, actual] = [0, 0];
      for (const { weekday, value } of known.slice(origin, origin + ahead)) {
        expected += level * (factors[weekday] ?? 0);
        actual += value;
      }
      errors.push(Math.abs(actual / expected - 1));
    }
  }
  if (errors.length < 5) return 0.3;
  return Math.max(0.02, at(errors, 0.8) * 1.25 * Math.sqrt(Math.max(1, open / 14)));
}

function levelAndFactors(known: readonly Known[]) {
  const factors = factorsOf(known);
  const even = known.map(({ weekday, value }) => value / (factors[weekday] ?? 1));
  let days = 14;
  for (let count = 3; count <= 10; count += 1) {
    const [before, since] = [even.slice(0, -count).slice(-14), even.slice(-count)];
    if (before.length < 14) continue;
    const [was, is] = [at(before, 0.5), at(since, 0.5)];
    const isAbove = since.every((one) => before.every((other) => one > other));
    const isBelow = since.every((one) => before.every((other) => one < other));
    if ((isAbove || isBelow) && Math.abs(is - was) >= 0.15 * was) days = count;
  }
  const window = even.slice(-days);
  const middle = at(window, 0.5);
  const distances = window.map((one) => Math.abs(one - middle));
  const mad = at(distances, 0.5);
  const clip = mad > 0 ? 2 * 1.4826 * mad : 3 * 1.2533 * average(distances);
  return { factors, level: average(window.map((one) => clamp(one, middle - clip, middle + clip))) };
}

function factorsOf(known: readonly Known[]): readonly number[] {
  if (known.length < 14) return Array<number>(7).fill(1);
  const ratios: number[][] = [[], [], [], [], [], [], []];
  known.forEach(({ weekday, value }, index) => {
    const first = clamp(index - 3, 0, known.length - 7);
    const around = average(known.slice(first, first + 7).map((one) => one.value));
    ratios[weekday]?.push(Math.log(Math.max(0.02, value / around)));
  });
  const away = (own: readonly number[]) => own.map((one) => Math.abs(one - at(own, 0.5)));
  const centred = ratios.flatMap((own) => own.map((one) => one - at(own, 0.5)));
  const pooled = at(away(centred), 0.5);
  const factors = ratios.map((own) => {
    const m = at(own, 0.5);
    if (own.length < 2 || m === 0) return 1;
    const s = 1.4826 * Math.max(at(away(own), 0.5), pooled);
    return Math.exp((m * m * m) / (m * m + (s * s) / own.length));
  });
  return factors.map((factor) => factor / average(factors));
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [low = 0, high = 0] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place % 1);
}

function average(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0) / values.length;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
