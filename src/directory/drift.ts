import type { NamedItem, Service } from './directory.ts';
import type { ServerService } from './discovered.ts';
import { cleanName } from './discovered-names.ts';

/** How the configuration and the server's list of services differ. It has no effect on the policy. */
export interface Drift {
  /** In the configuration, but not in the list: deleted, or not visible with this key. */
  readonly gone: readonly NamedItem[];
  /** In the list, but not in the configuration. */
  readonly unlisted: readonly NamedItem[];
  /** In both, with another name on the server. */
  readonly renamed: readonly (NamedItem & { readonly serverName: string })[];
}

/** Compares the services of a directory with the list of the server, by id. */
export function driftOf(services: readonly Service[], list: readonly ServerService[]): Drift {
  const onServer = new Map(list.map((one) => [one.id.toLowerCase(), one]));
  const configured = services.filter(({ tags }) => tags !== null);
  return {
    gone: configured.filter(({ id }) => !onServer.has(id.toLowerCase())),
    unlisted: services.filter(({ id, tags }) => tags === null && onServer.has(id.toLowerCase())),
    renamed: configured.flatMap((service) => {
      const serverName = onServer.get(service.id.toLowerCase())?.name ?? null;
      const isSame = serverName === null || isNameOf(service, serverName);
      return isSame ? [] : [{ ...service, serverName: cleanName(serverName) }];
    }),
  };
}

const SHOWN = 10;

/** One line for each kind of difference; none if the two agree. */
export function driftLines({ gone, unlisted, renamed }: Drift): readonly string[] {
  const names = (items: readonly NamedItem[]) =>
    listed(
      items.map(({ name, id }) => (name.includes('(') ? name : `${name} (${id.slice(0, 8)})`)),
    );
  const pairs = renamed.map(({ name, serverName }) => `${name} is “${serverName}” on the server`);
  return [
    ...(gone.length > 0 ? [`In signalbox.yaml, but not on the server: ${names(gone)}`] : []),
    ...(unlisted.length > 0
      ? [`On the server, but not in signalbox.yaml: ${names(unlisted)}`]
      : []),
    ...(renamed.length > 0 ? [`Another name: ${listed(pairs)}`] : []),
  ];
}

function listed(texts: readonly string[]): string {
  const rest = texts.length - SHOWN;
  return [...texts.slice(0, SHOWN), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
}

// A name of the configuration is one word, so that it cannot have the spaces of the server's name.
function isNameOf({ name, aliases }: NamedItem, serverName: string): boolean {
  const word = (text: string) => text.trim().replace(/\s+/g, '-').toLowerCase();
  return [name, ...aliases].some((one) => word(one) === word(serverName));
}
