import { createContext, use } from 'react';
import type { Channel, ClientState, Delivery, Person } from '../protocol.ts';
import type { Address, Go } from './address.ts';
import type { Notices } from './notices.ts';
import type { Interactions } from './server.ts';

export type Deliver = <Path extends keyof Interactions>(
  path: Path,
  done: Interactions[Path],
) => Promise<Delivery>;

/** What every part of the page may know and do: the screen, the place, and how to reach the bot. */
export interface Session {
  readonly screen: ClientState;
  readonly address: Address;
  readonly go: Go;
  /** Does something as the person of the screen, then reads the screen again. */
  readonly deliver: Deliver;
  readonly notices: Notices;
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('Drawn outside of a session');
  return session;
}

export const personOf = (screen: ClientState, id: string): Person | undefined =>
  screen.people.find((person) => person.id === id);

export const channelOf = (screen: ClientState, id: string | null): Channel | undefined =>
  screen.channels.find((channel) => channel.id === id);

/** The conversation with the app, which Slack shows as the Messages tab of its home. */
export const appChannel = (screen: ClientState): Channel | undefined =>
  screen.channels.find(({ kind, name }) => kind === 'dm' && name === screen.botName);
