import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

/** Where the name of an API must not lead: the key would be sent to whoever is there. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';

  constructor(hostname: string, address: string) {
    super(`${hostname} leads to ${address}`);
  }
}

export interface Surroundings {
  /** Addresses that only exist within a network of one's own count as well. */
  readonly privateToo: boolean;
}

type Range = readonly [address: string, bits: number];

const OWN: readonly Range[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];
const PRIVATE: readonly Range[] = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['198.18.0.0', 15],
  ['fc00::', 7],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
];
// The machine's own network and all that is no place at all. Clouds tell a machine its credentials
// at some of these, to whoever asks from it.
const NOWHERE: readonly Range[] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['224.0.0.0', 3],
  ['100.100.100.200', 32],
  ['::', 128],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['fd00:ec2::254', 128],
  ['2002::', 16],
];
const isOwn = within(OWN);
const isPrivate = within(PRIVATE);
const isNowhere = within(NOWHERE);

function within(ranges: readonly Range[]): (address: string) => boolean {
  const list = new BlockList();
  for (const [address, bits] of ranges) {
    list.addSubnet(address, bits, versionOf(address));
  }
  return (address) => list.check(address, versionOf(address));
}

function versionOf(address: string) {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** Whether a request to this name may go to this address of it. */
export function mayReach(hostname: string, address: string, { privateToo }: Surroundings): boolean {
  if (isIP(address) === 0) return false;
  // Only what the configuration calls this machine is it, and that goes without TLS nowhere else.
  if (isOwn(address) || isThisMachine(hostname)) return isOwn(address) && isThisMachine(hostname);
  return !isNowhere(address) && (privateToo || !isPrivate(address));
}

function isThisMachine(hostname: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(hostname);
}

/**
 * Looks at the very address that is connected to: what a name led to when the process started may
 * be another one by now.
 */
export function guardedConnector(
  surroundings: Surroundings,
  options: buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guardedLookup(surroundings) });
  return (target, done) => {
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    // An address that is written out is looked up by nobody.
    if (isIP(literal) === 0 || mayReach(target.hostname, literal, surroundings)) {
      return connect(target, done);
    }
    done(new AddressRefused(target.hostname, literal), null);
  };
}

function guardedLookup(surroundings: Surroundings): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const refused = found.find(({ address }) => !mayReach(hostname, address, surroundings));
      if (refused) return done(new AddressRefused(hostname, refused.address), []);
      const [first] = found;
      if (options.all) return done(null, found);
      done(null, first?.address ?? '', first?.family);
    });
  };
}
