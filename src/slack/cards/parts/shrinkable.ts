import { bounded, type Line, type RichInline } from '../../blocks/rich-text.ts';

/** The characters of a displayed line on a desktop. */
export const ROW_MAX = 90;
/** Two displayed lines, which are four rows of 45 characters on a phone. */
export const LINE_MAX = 2 * ROW_MAX;

/** A line that can be shortened: its length, and how it is drawn in at most so many characters. */
export interface Shrinkable {
  readonly length: number;
  readonly draw: (most: number) => Line;
}

export function shrinkable(line: Line): Shrinkable {
  return { length: lengthOf(line), draw: (most) => cut(line, most) };
}

/** The displayed lines of lines that are not shortened. */
export function rowsOf(all: readonly Shrinkable[]): number {
  return all.reduce((sum, { length }) => sum + (length > ROW_MAX ? 2 : 1), 0);
}

/** Gives the first long lines a second displayed line, and returns the characters of each line. */
export function widen(all: readonly Shrinkable[], spare: number) {
  const most = new Map<Shrinkable, number>();
  let left = spare;
  for (const each of all) {
    const isWide = each.length > ROW_MAX && left > 0;
    if (isWide) left -= 1;
    most.set(each, isWide ? LINE_MAX : ROW_MAX);
  }
  return { most, left };
}

/** As many lines as fit into the displayed lines that are left. */
export function linesThatFit(all: readonly Line[], rows: number): readonly Line[] {
  const shown: Line[] = [];
  let left = rows;
  for (const each of all.map(shrinkable)) {
    if (left <= 0) break;
    const most = each.length > ROW_MAX && left > 1 ? LINE_MAX : ROW_MAX;
    shown.push(each.draw(most));
    left -= most / ROW_MAX;
  }
  return shown;
}

/** The first lines; the last of them counts the others. */
export function counted(all: readonly Line[], most: number): readonly Shrinkable[] {
  const left = all.length - most;
  if (left <= 0) return all.map(shrinkable);
  const more = ` (${left} more in Show request)`;
  const last = all[most - 1] ?? [];
  const counting = {
    length: lengthOf(last) + more.length,
    draw: (room: number) => [...cut(last, room - more.length), more],
  };
  return [...all.slice(0, most - 1).map(shrinkable), counting];
}

const COUNT_MAX = 30;

/** Several lines as one, with as many of them as fit, and the number of the others. */
export function joined(all: readonly Line[]): Shrinkable {
  const length = all.reduce((sum, line) => sum + lengthOf(line) + 3, -3);
  return { length, draw: (most) => joinedIn(all, length <= most ? most : most - COUNT_MAX) };
}

function joinedIn(all: readonly Line[], room: number): Line {
  let shown: Line = cut(all[0] ?? [], room);
  let count = 1;
  for (const line of all.slice(1)) {
    if (lengthOf(shown) + lengthOf(line) + 3 > room) break;
    shown = [...shown, ' · ', ...line];
    count += 1;
  }
  const left = all.length - count;
  return left > 0 ? [...shown, ` · ${left} more in Show request`] : shown;
}

/** `Unchanged: name, note and 3 more`: as many whole words as fit. */
export function listed(label: string, words: readonly string[]): Shrinkable {
  const text = (count: number) => {
    const left = words.length - count;
    const more = left > 0 ? ` and ${left} more` : '';
    return `${label}: ${words.slice(0, count).join(', ')}${more}`;
  };
  const draw = (most: number): Line => {
    const counts = words.map((_, index) => words.length - index);
    return [text(counts.find((count) => text(count).length <= most) ?? 1)];
  };
  return { length: text(words.length).length, draw };
}

function cut(line: Line, most: number): Line {
  let left = most;
  return line.flatMap((part) => {
    if (left <= 0) return [];
    const length = lengthOf([part]);
    left -= length;
    return left < 0 ? cutPart(part, left + length) : [part];
  });
}

/** A name or a time is shown whole or not at all. */
function cutPart(part: RichInline, most: number): Line {
  if (typeof part === 'string') return [atWord(part, most)];
  if ('bold' in part) return [{ bold: bounded(part.bold, most) }];
  return 'code' in part ? [{ code: bounded(part.code, most) }] : ['…'];
}

/** Cut at the end of a word, unless the text has none nearby. */
function atWord(text: string, most: number): string {
  const short = bounded(text, most);
  const end = short.lastIndexOf(' ');
  return short === text || end < most / 2 ? short : `${short.slice(0, end)}…`;
}

/** How many characters users see: about 12 of a name, and 24 of a time. */
function lengthOf(line: Line): number {
  return line.reduce((sum, part) => sum + partLength(part), 0);
}

function partLength(part: RichInline): number {
  if (typeof part === 'string') return part.length;
  if ('bold' in part) return part.bold.length;
  if ('code' in part) return part.code.length;
  if ('text' in part) return part.text.length;
  return 'at' in part ? 24 : 12;
}
