import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';

/** A configured API name resolves to a forbidden address, which would receive the API key. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';

  constructor(hostname: string, address: string) {
    super(`${hostname} resolves to ${address}`);
  }
}

interface AddressRules {
  /** Private network addresses are allowed as well. */
  readonly allowPrivate: boolean;
}

type Range = readonly [address: string, bits: number];

const LOOPBACK: readonly Range[] = [
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
// Unspecified, link-local, multicast and reserved ranges, and the metadata services of clouds,
// which return the credentials of the machine.
const NEVER_ALLOWED: readonly Range[] = [
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
const isLoopbackAddress = within(LOOPBACK);
const isPrivate = within(PRIVATE);
const isNeverAllowed = within(NEVER_ALLOWED);

function within(ranges: readonly Range[]): (address: string) => boolean {
  const list = new BlockList();
  for (const [address, bits] of ranges) {
    list.addSubnet(address, bits, versionOf(address));
  }
  return (address) => list.check(address, versionOf(address));
}

/** Of a valid address. The first `isIP` of an IPv6 address takes 13 ms, which every start would wait for. */
function versionOf(address: string) {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

/** Whether a request for this name may connect to this address. */
export function mayReach(
  hostname: string,
  address: string,
  { allowPrivate: privateToo }: AddressRules,
): boolean {
  if (isIP(address) === 0) return false;
  // Loopback names and loopback addresses belong together: plain HTTP is allowed for them only.
  if (isLoopbackAddress(address) || isThisMachine(hostname))
    return isLoopbackAddress(address) && isThisMachine(hostname);
  return !isNeverAllowed(address) && (privateToo || !isPrivate(address));
}

function isThisMachine(hostname: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(hostname);
}

/** An undici connector that checks each address right before it connects (DNS can change). */
export function guardedConnector(
  surroundings: AddressRules,
  options: buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guardedLookup(surroundings) });
  return (target, done) => {
    const literal = target.hostname.replace(/^\[|\]$/g, '');
    // A literal address has no DNS lookup, so it is checked here.
    if (isIP(literal) === 0 || mayReach(target.hostname, literal, surroundings)) {
      return connect(target, done);
    }
    done(new AddressRefusedError(target.hostname, literal), null);
  };
}

function guardedLookup(surroundings: AddressRules): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const refused = found.find(({ address }) => !mayReach(hostname, address, surroundings));
      if (refused) return done(new AddressRefusedError(hostname, refused.address), []);
      const [first] = found;
      if (options.all) return done(null, found);
      done(null, first?.address ?? '', first?.family);
    });
  };
}
