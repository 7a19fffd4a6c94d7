/** What may be asked for beside the best trees. */
export interface ParseOptions {
  /** The name of a model that was loaded; `english-small` is inside. */
  model?: string;
  /** Each line of the text is a sentence. */
  lines?: boolean;
  /** A confidence score for each constituent. */
  span_scores?: boolean;
  /** Words as they are in the text, without the escapes of treebanks. */
  unescape?: boolean;
}

/** A parse of a sentence. */
export interface Parse {
  /** The tree in brackets. */
  tree: string;
  /** Words with their tags. */
  tokens: [word: string, tag: string][];
  /** Constituents from the bottom up: label, first token, the token after the last. */
  spans: [label: string, start: number, end: number][];
  /** The position of the head of each token among the tokens, `null` for the root. */
  heads?: (number | null)[];
  score?: number;
  /** Whether the derivation is complete. */
  complete: boolean;
  span_scores?: number[];
  /** The sentence in the text. */
  text?: string;
  /** The first character of each token in the text, and the one after the last. */
  start?: number[];
  end?: number[];
  /** Why there is no tree. */
  error?: string;
}

/** A match of a tree search. */
export interface Match {
  /** The number of the tree, from 1. */
  tree: number;
  /** The number of the node in the order in which nodes open. */
  node: number;
  label: string;
  span: [start: number, end: number];
  words: string;
  brackets: string;
  /** The nodes that the pattern names. */
  nodes: Record<string, { node: number; label: string; span: [number, number]; words: string }>;
}

/** Parses a text, or sentences as lists of words: the best tree of each sentence. */
export function parse(input: string | string[][], options?: ParseOptions): Promise<Parse[]>;
/** The best trees of each sentence, the best first. */
export function parse(input: string | string[][], options: ParseOptions & { nbest: number }): Promise<Parse[][]>;

/** Searches trees in brackets for a pattern, which docs/find.md describes. */
export function find(pattern: string, trees: string[], options?: { once?: boolean }): Promise<Match[]>;

/** Loads a model file under a name. */
export function loadModel(name: string, bytes: Uint8Array): Promise<void>;
