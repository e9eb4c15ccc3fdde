import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

// Large folders that .dockerignore must exclude anyway; a test asserts that.
const NOT_READ = ['.git', 'node_modules'];

/** The build context of the image: every file that .dockerignore does not exclude. Paths are relative. */
export function contextOf(folder: string): readonly string[] {
  const patterns = patternsOf(readFileSync(join(folder, '.dockerignore'), 'utf8'));
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((file) => !NOT_READ.includes(file.split('/')[0] ?? ''))
    .filter((file) => !isIgnored(file, patterns));
}

export function patternsOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
}

/** Like Docker: the last pattern that matches the file or one of its folders decides. */
export function isIgnored(file: string, patterns: readonly string[]): boolean {
  const last = patterns.findLast((pattern) => matches(file, pattern.replace(/^!/, '')));
  return last !== undefined && !last.startsWith('!');
}

// The globs of Node.js are not usable: their * does not match names that begin with a dot, Docker's does.
function matches(file: string, pattern: string): boolean {
  const whole = new RegExp(`^${RegExp.escape(pattern).replaceAll('\\*', '[^/]*')}$`);
  return withFolders(file).some((path) => whole.test(path));
}

function withFolders(file: string): readonly string[] {
  const above = dirname(file);
  return above === '.' ? [file] : [file, ...withFolders(above)];
}
