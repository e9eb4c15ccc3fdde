/** The objects to which alerts refer. The server refuses references to other objects. */
export const TEAM = 'b88bf79fed909860fb7ab2b7';

export const DASHBOARDS = {
  checkout: {
    id: '62c44503c8448bc7c39e434f',
    tiles: ['tile-latency', 'tile-carts', 'tile-orders'],
  },
  platform: {
    id: '5a4875cbcc6a788355c70fda',
    tiles: ['tile-disk', 'tile-queue', 'tile-traffic', 'tile-lag'],
  },
} as const;

export const SAVED_SEARCHES = {
  errors: '888f2ada363fdf3b2bac9d99',
  slowQueries: 'a3109c8788cf6eef77971309',
} as const;

export const WEBHOOKS = {
  operations: '84d522e4fbd278b2b66beeed',
  paging: '1cd7edd85bd8339788c3f0f9',
} as const;

/** A webhook of a kind that the server counts but does not list. */
export const UNLISTED_WEBHOOK = '7b7d3c5a1f0e9d8c7b6a5f4e';

/** What people see of the objects above, by id. A tile has the name of its id. */
export const NAMES: Readonly<Record<string, string>> = {
  [DASHBOARDS.checkout.id]: 'Checkout',
  [DASHBOARDS.platform.id]: 'Platform',
  [SAVED_SEARCHES.errors]: 'Errors by service',
  [SAVED_SEARCHES.slowQueries]: 'Slow queries',
  [WEBHOOKS.operations]: 'Production alerts',
  [WEBHOOKS.paging]: 'Paging',
};
