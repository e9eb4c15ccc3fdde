/** Who claims rows of a queue, and for how long other processes do not get them. */
export interface Lease {
  readonly owner: string;
  readonly now: Date;
  readonly leaseMs: number;
}

export interface Batch extends Lease {
  readonly limit: number;
}

export function leaseColumns({ owner, now, leaseMs }: Lease) {
  const until = new Date(now.getTime() + leaseMs);
  return { lease_owner: owner, lease_until: until.toISOString() };
}
