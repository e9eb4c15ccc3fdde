import { globSync, readFileSync } from 'node:fs';

export const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...globSync('{docs/**,src/*,sandbox}/*.md').toSorted(),
];

export function readPage(file: string): string {
  return readFileSync(file, 'utf8');
}

/** The first group of each match. */
export function groupsOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group = '']) => group);
}

/** The addresses of the headings of a page, in the form of a link: `day-states-and-locking`. */
export function headingsOf(file: string): readonly string[] {
  const address = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\d _-]/gu, '')
      .replaceAll(' ', '-');
  return groupsOf(readPage(file), /^#+ (.+)$/gm).map(address);
}

export interface Fence {
  /** Empty if the block names none. */
  readonly language: string;
  readonly text: string;
}

const FENCE = /^( *)```(\w*)\n([\s\S]*?)^\1```/gm;

/** The code blocks of a page, without their indentation. */
export function fencesOn(page: string): readonly Fence[] {
  return [...page.matchAll(FENCE)].map(([, indent = '', language = '', text = '']) => ({
    language,
    text: text.replace(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** The inline code of a page. In a table, a vertical bar within code is escaped with a backslash. */
export function spansOn(page: string): readonly string[] {
  return groupsOf(page.replaceAll(FENCE, ''), /`([^`]+)`/g).map((span) =>
    span.replaceAll('\\|', '|').replace(/\s+/g, ' '),
  );
}

/** All code of a page: the lines of its blocks and its inline code. */
export function codeOn(page: string): readonly string[] {
  return [...fencesOn(page).flatMap(({ text }) => text.split('\n')), ...spansOn(page)];
}
