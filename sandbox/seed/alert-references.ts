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
