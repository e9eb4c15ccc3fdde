/** What a person typed after the slash command, cut into words. */
export interface SplitLine {
  readonly words: readonly Word[];
}

export interface Word {
  readonly text: string;
  readonly quoted: boolean;
}

const SMART: readonly (readonly [RegExp, string])[] = [
  [/[\u201c\u201d\u201e\u00ab\u00bb]/g, '"'],
  [/[\u2018\u2019\u201a]/g, "'"],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u00a0\u2007\u202f]/g, ' '],
  // What cannot be seen must not tell two names apart.
  [/\p{Cf}/gu, ''],
];

/** Phones put curly quotes and long dashes; Slack escapes the three characters of its markup. */
export function plainText(typed: string): string {
  const decoded = typed.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
  return SMART.reduce((text, [pattern, plain]) => text.replace(pattern, plain), decoded);
}

/** `min=16 "night saving"` → two words; a quote that is never closed runs to the end. */
export function splitWords(typed: string): SplitLine {
  const words: Word[] = [];
  for (const match of plainText(typed).matchAll(/"([^"]*)"?|(\S+="[^"]*"?)|(\S+)/g)) {
    const [, quoted, pair, bare] = match;
    if (quoted !== undefined) words.push({ text: quoted.trim(), quoted: true });
    else words.push({ text: (pair ?? bare ?? '').replace(/="([^"]*)"?$/, '=$1'), quoted: false });
  }
  return { words: words.filter(({ text }) => text !== '') };
}
