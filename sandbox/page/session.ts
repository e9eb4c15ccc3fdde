import { createContext, use } from 'react';
import type { Channel, Delivery, Person, Screen } from '../protocol.ts';
import type { Address, Go } from './address.ts';
import type { Notices } from './notices.ts';
import type { Gestures } from './server.ts';

export type Deliver = <Path extends keyof Gestures>(
  path: Path,
  done: Gestures[Path],
) => Promise<Delivery>;

/** What every part of the page may know and do: the screen, the place, and how to reach the bot. */
export interface Session {
  readonly screen: Screen;
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

export const personOf = (screen: Screen, id: string): Person | undefined =>
  screen.people.find((person) => person.id === id);

export const channelOf = (screen: Screen, id: string | null): Channel | undefined =>
  screen.channels.find((channel) => channel.id === id);

/** The conversation with the app, which Slack shows as the Messages tab of its home. */
export const appChannel = (screen: Screen): Channel | undefined =>
  screen.channels.find(({ kind, name }) => kind === 'dm' && name === screen.botName);
