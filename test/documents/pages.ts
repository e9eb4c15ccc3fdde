import { globSync, readFileSync } from 'node:fs';

export const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...globSync('docs/**/*.md').toSorted(),
];

export function read(file: string): string {
  return readFileSync(file, 'utf8');
}

export function found(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group = '']) => group);
}

export interface Fence {
  /** Empty where none is named. */
  readonly language: string;
  readonly text: string;
}

const FENCE = /^( *)```(\w*)\n([\s\S]*?)^\1```/gm;

/** The blocks of code on a page, as if they stood at the margin. */
export function fencesOn(page: string): readonly Fence[] {
  return [...page.matchAll(FENCE)].map(([, indent = '', language = '', text = '']) => ({
    language,
    text: text.replace(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** The bits of code within sentences and tables; a bar of a cell is written with a stroke. */
export function spansOn(page: string): readonly string[] {
  return found(page.replaceAll(FENCE, ''), /`([^`]+)`/g).map((span) =>
    span.replaceAll('\\|', '|').replace(/\s+/g, ' '),
  );
}

/** All code of a page, by lines. */
export function codeOn(page: string): readonly string[] {
  return [...fencesOn(page).flatMap(({ text }) => text.split('\n')), ...spansOn(page)];
}
