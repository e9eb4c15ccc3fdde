interface ConfiguredPlace {
  readonly id: string;
  readonly warehouse: string | null;
}

interface ServerPlace {
  readonly id: string;
  readonly dataWarehouseId: string | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns a function from the server's id of a warehouse to its name in the configuration, which is
 * known from the configured services in it. A warehouse without a configured service has its id as
 * its name. Null: unknown, because two names fit, or because the place of a configured one is unknown.
 */
export function createWarehouseNames(
  configured: readonly ConfiguredPlace[],
  list: readonly ServerPlace[],
): (warehouseId: string | null) => string | null {
  const places = new Map(
    list.map(({ id, dataWarehouseId }) => [id.toLowerCase(), dataWarehouseId]),
  );
  const pairs = configured.flatMap(({ id, warehouse }) => {
    if (warehouse === null) return [];
    // The configuration may name a warehouse by its id.
    const place = UUID.test(warehouse) ? warehouse : (places.get(id.toLowerCase()) ?? null);
    return [{ warehouse, place: place?.toLowerCase() ?? null }];
  });
  const placed = new Set(pairs.flatMap(({ warehouse, place }) => (place ? [warehouse] : [])));
  const isComplete = pairs.every(({ warehouse }) => placed.has(warehouse));

  return (warehouseId) => {
    if (warehouseId === null) return null;
    const own = pairs.filter(({ place }) => place === warehouseId.toLowerCase());
    const [name, ...others] = new Set(own.map(({ warehouse }) => warehouse));
    if (others.length > 0) return null;
    return name ?? (isComplete ? warehouseId : null);
  };
}
