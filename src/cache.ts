/** The last values by key. When it is full, it starts again. */
export class Cache<Key, Value> {
  readonly #most: number;
  readonly #values = new Map<Key, Value>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#values.size >= this.#most) this.#values.clear();
    this.#values.set(key, value);
  }
}

/** The same function, which computes the last `most` results only once. They depend on the key alone. */
export function cached<Key, Value>(
  most: number,
  compute: (key: Key) => Value,
): (key: Key) => Value {
  const results = new Cache<Key, Value>(most);
  return (key) => {
    const known = results.get(key);
    if (known !== undefined) return known;
    const computed = compute(key);
    results.set(key, computed);
    return computed;
  };
}
