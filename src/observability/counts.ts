/**
 * Exact counts over two fixed sets of labels, in one preallocated array: counting is an index and an addition, so that
 * it costs nothing at an attacker's rate. Doubles count exactly up to 2^53.
 */
export class CountTable<Row extends string, Column extends string> {
  readonly #counts: Float64Array;
  readonly #rowOffsets: ReadonlyMap<string, number>;
  readonly #columns: ReadonlyMap<string, number>;

  constructor(
    readonly rows: readonly Row[],
    readonly columns: readonly Column[],
  ) {
    this.#counts = new Float64Array(rows.length * columns.length);
    this.#rowOffsets = new Map(rows.map((row, index) => [row, index * columns.length]));
    this.#columns = new Map(columns.map((column, index) => [column, index]));
  }

  /** Adds to one cell; a label outside the sets counts nowhere. */
  add(row: Row, column: Column, amount = 1): void {
    const index = this.#index(row, column);
    if (index >= 0) this.#counts[index] = (this.#counts[index] ?? 0) + amount;
  }

  /** What one cell has counted. */
  get(row: Row, column: Column): number {
    return this.#counts[this.#index(row, column)] ?? 0;
  }

  /** The sum of a row, over all columns. */
  rowTotal(row: Row): number {
    return this.columns.reduce((sum, column) => sum + this.get(row, column), 0);
  }

  #index(row: Row, column: Column): number {
    const offset = this.#rowOffsets.get(row);
    const inRow = this.#columns.get(column);
    return offset === undefined || inRow === undefined ? -1 : offset + inRow;
  }
}

/** Exact counts over one fixed set of labels. */
export class CountRow<Label extends string> {
  readonly #table: CountTable<'', Label>;

  constructor(readonly labels: readonly Label[]) {
    this.#table = new CountTable([''], labels);
  }

  /** Adds to one label; one outside the set counts nowhere. */
  add(label: Label, amount = 1): void {
    this.#table.add('', label, amount);
  }

  get(label: Label): number {
    return this.#table.get('', label);
  }

  /** Every label with its count, zeros included. */
  all(): Record<Label, number> {
    return Object.fromEntries(this.labels.map((label) => [label, this.get(label)])) as Record<Label, number>;
  }
}

/** The label under which counts land once a set of open labels is full. */
export const OTHER = 'other';

/** Counts under labels that are not known beforehand, with a ceiling on how many there are. */
export class OpenCounts {
  readonly #counts = new Map<string, number>();

  constructor(private readonly maxLabels = 32) {}

  /** Adds one to a label, or to {@link OTHER} where the label is new and the ceiling is reached. */
  add(label: string): void {
    const known = this.#counts.has(label) || this.#counts.size < this.maxLabels;
    const key = known ? label : OTHER;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Every label seen with its count. */
  all(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
