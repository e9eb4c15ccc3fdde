import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

// They are large, and .dockerignore has to keep them out anyway: a test looks that it does.
const NEVER_WALKED = ['.git', 'node_modules'];

/** The files that a build of the image is given: all in the folder but what .dockerignore names. */
export function contextOf(folder: string): readonly string[] {
  const patterns = patternsOf(readFileSync(join(folder, '.dockerignore'), 'utf8'));
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((file) => !NEVER_WALKED.includes(file.split('/')[0] ?? ''))
    .filter((file) => !isIgnored(file, patterns));
}

export function patternsOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
}

/** As Docker decides: the last pattern that fits the file or a folder above it. */
export function isIgnored(file: string, patterns: readonly string[]): boolean {
  const last = patterns.findLast((pattern) => fits(file, pattern.replace(/^!/, '')));
  return last !== undefined && !last.startsWith('!');
}

// Not the runtime's own globs, whose * passes over names that begin with a dot: Docker's does not.
function fits(file: string, pattern: string): boolean {
  const whole = new RegExp(`^${RegExp.escape(pattern).replaceAll('\\*', '[^/]*')}$`);
  return withFolders(file).some((path) => whole.test(path));
}

function withFolders(file: string): readonly string[] {
  const above = dirname(file);
  return above === '.' ? [file] : [file, ...withFolders(above)];
}
