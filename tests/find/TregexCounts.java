import edu.stanford.nlp.trees.*;
import edu.stanford.nlp.trees.tregex.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/** Counts the matches of Tregex patterns: java TregexCounts PATTERNS TREES, one pattern a line. */
public class TregexCounts {
  /** The head rules of data/heads/collins-modified.heads: those of ModCollinsHeadFinder, and those for CRAFT. */
  static class Heads extends ModCollinsHeadFinder {
    Heads() {
      super(new PennTreebankLanguagePack() {
        @Override public String[] punctuationTags() {
          return new String[] {",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH", "-NONE-"};
        }
        @Override public boolean isPunctuationTag(String tag) {
          return Arrays.asList(punctuationTags()).contains(tag);
        }
      });
      defaultRule = new String[] {"left"};
      nonTerminalInfo.put("NML", nonTerminalInfo.get("NX"));
      nonTerminalInfo.put("TOP", nonTerminalInfo.get("ROOT"));
      nonTerminalInfo.put("", nonTerminalInfo.get("ROOT"));
      String[] text = "left S SINV SBARQ SQ SBAR VP NP NML ADJP PP UCP FRAG".split(" ");
      for (String label : new String[] {"TITLE", "HEADING", "CAPTION"}) nonTerminalInfo.put(label, new String[][] {text});
      nonTerminalInfo.put("CIT", new String[][] {"leftdis NNP NNPS NN NNS NP NML".split(" "), "left FW JJ CD".split(" ")});
    }
  }

  public static void main(String[] args) throws Exception {
    List<Tree> trees = new ArrayList<>();
    Reader in = new InputStreamReader(new FileInputStream(args[1]), StandardCharsets.UTF_8);
    TreeReader reader = new TregexPattern.TRegexTreeReaderFactory().newTreeReader(in);
    for (Tree tree; (tree = reader.readTree()) != null; ) trees.add(tree);
    boolean positions = args.length > 2;
    TregexPatternCompiler compiler = new TregexPatternCompiler(new Heads(), new PennTreebankLanguagePack().getBasicCategoryFunction());
    for (String line : Files.readAllLines(Paths.get(args[0]), StandardCharsets.UTF_8)) {
      if (line.isEmpty() || line.startsWith("#")) continue;
      String pattern = line.split("\t")[0];
      TregexPattern compiled;
      try {
        compiled = compiler.compile(pattern);
      } catch (Throwable problem) {
        System.out.println(pattern + "\tERROR " + problem.getClass().getSimpleName()+ " " + (positions ? String.valueOf(problem.getMessage()).replace('\n', ' ') : ""));
        continue;
      }
      if (positions) System.err.println(pattern + "  =>  " + compiled);
      System.out.println(pattern + "\t" + counts(compiled, trees, positions));
      System.out.flush();
    }
  }

  static String counts(TregexPattern pattern, List<Tree> trees, boolean positions) {
    long matches = 0, nodes = 0;
    StringBuilder where = new StringBuilder();
    try {
      for (Tree tree : trees) {
        IdentityHashMap<Tree, Integer> numbers = new IdentityHashMap<>();
        if (positions) for (Tree node : tree) numbers.put(node, numbers.size());
        Set<Tree> found = Collections.newSetFromMap(new IdentityHashMap<>());
        TregexMatcher matcher = pattern.matcher(tree);
        while (matcher.find()) {
          matches++;
          found.add(matcher.getMatch());
          if (positions) {
            where.append(' ').append(numbers.get(matcher.getMatch()));
            for (String name : new TreeSet<>(matcher.getNodeNames())) where.append(',').append(name).append('=').append(matcher.getNode(name) == null ? "-" : numbers.get(matcher.getNode(name)));
          }
          if (matches > 100000000 || positions && matches > 60) return "more";
        }
        nodes += found.size();
      }
    } catch (Throwable problem) {
      return "ERROR " + problem;
    }
    return matches + "\t" + nodes + where;
  }
}
