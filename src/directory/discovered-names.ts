import type { NamedItem } from '../domain/targets.ts';

/** As long as the names that servers accept. */
const LONGEST = 50;

/**
 * Returns a function that gives each discovered service a name which no user can confuse with
 * another one. A name that resembles a configured name, an id or a scope, that two services share,
 * or that has unusual characters, ends with the start of the id. Typing a configured name therefore
 * never finds a discovered service, and typing a shared name finds all of its services.
 */
export function discoveredNames(
  discovered: readonly Pick<NamedItem, 'id' | 'name'>[],
  configured: readonly NamedItem[],
): (service: Pick<NamedItem, 'id' | 'name'>) => Pick<NamedItem, 'name' | 'aliases'> {
  const reserved = new Set(
    configured.flatMap(({ name, aliases }) => [name, ...aliases].map(shapeOf)),
  );
  const uses = new Map<string, number>();
  for (const { name } of discovered) {
    const shape = shapeOf(cleanName(name));
    uses.set(shape, (uses.get(shape) ?? 0) + 1);
  }
  return ({ id, name }) => {
    const text = cleanName(name);
    const shape = shapeOf(text);
    const full = `${text} (${id.slice(0, 8)})`.trim();
    if (text === '' || reserved.has(shape) || isMisleading(text))
      return { name: full, aliases: [] };
    const isShared = (uses.get(shape) ?? 0) > 1;
    const isPlain = text === name && PLAIN.test(text);
    return isPlain && !isShared ? { name: text, aliases: [] } : { name: full, aliases: [text] };
  };
}

const PLAIN = /^[A-Za-z0-9][A-Za-z0-9 ._-]*$/;

/** Returns a name without invisible characters and changes of direction, at most 50 characters long. */
function cleanName(name: string): string {
  const visible = name.replace(/\p{C}/gu, '').replace(/\s+/gu, ' ').trim();
  const characters = [...visible];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : visible;
}

/** Words that a command reads as an id, or as a scope of several services. */
function isMisleading(text: string): boolean {
  return /^[0-9a-f]{8}(-|$)/i.test(text) || /^(everything\b|all$|[a-z]+:)/i.test(text);
}

/** The same for names that look alike in the fonts of Slack. */
function shapeOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s._-]+/g, '-')
    .replace(/[1i|]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}
