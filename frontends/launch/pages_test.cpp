#include "frontends/launch/pages.h"

#include <gtest/gtest.h>

namespace allranks::launch_files {
namespace {

TEST(PagesTest, TakesBlocksOfShellFromMarkdown) {
  const std::string page =
      "# Train\n"
      "Run torchrun.\n"
      "```bash\n"
      "torchrun train.py\n"
      "```\n"
      "```python\n"
      "import torch\n"
      "```\n"
      "````\n"
      "sh run.sh\n"
      "```\n"
      "````\n";
  EXPECT_EQ(ShellOnPage("README.md", page), "torchrun train.py\nsh run.sh\n```\n");
}

TEST(PagesTest, TakesCommandsWithinALine) {
  EXPECT_EQ(ShellOnPage("README.md", "Run `torchrun train.py`, then ``python eval.py``.\n"), "torchrun train.py\npython eval.py\n");
  EXPECT_EQ(ShellOnPage("README.md", "Needs `python`, `torch` and `python=3.10`; one ` alone.\n"), "");
  EXPECT_TRUE(ShellBlocksOf("README.md", "`python train.py`").at(0).is_mention);
}

TEST(PagesTest, TakesIndentedCommands) {
  EXPECT_EQ(ShellOnPage("README.md", "Run\n\n    python a.py\n\n\tpython b.py\n\nand see.\n"), "    python a.py\n\n\tpython b.py\n");
  EXPECT_EQ(ShellOnPage("README.md", "Run\n\n    import a\n\n- an item\n    python a.py\n"), "");
  EXPECT_EQ(ShellOnPage("README.md", "- an item\n\n    ```\n    python a.py\n    ```\n"), "    python a.py\n");
}

TEST(PagesTest, TakesCommandsThatAreSaidToBePython) {
  EXPECT_EQ(ShellOnPage("README.md", "```python\n# eight GPUs\nOMP_NUM_THREADS=1 torchrun --nproc_per_node=8 train.py\n```\n"),
            "# eight GPUs\nOMP_NUM_THREADS=1 torchrun --nproc_per_node=8 train.py\n");
  EXPECT_EQ(ShellOnPage("README.md", "```python\npython = find()\ntorchrun(train)\n```\n"), "");
  EXPECT_EQ(ShellOnPage("README.md", "```yaml\naccelerate:\n  processes: 8\n```\n"), "");
}

TEST(PagesTest, SkipsComments) {
  EXPECT_EQ(ShellOnPage("README.md", "<!-- old\n```\na\n```\n-->\n```\nb\n```\n<!-- short -->\n```\nc\n```\n"), "b\nc\n");
  EXPECT_EQ(ShellOnPage("README.md", "```\na\n```\n<!-- never closed\n```\nb\n```\n"), "a\n");
}

TEST(PagesTest, KnowsTheSectionOfABlock) {
  const std::string page = "# A\n```\na\n```\n# B\n```\nb\n";
  const std::vector<PageBlock> blocks = ShellBlocksOf("docs/a.md", page);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].section, 0U);
  EXPECT_EQ(blocks[1].section, page.find("# B"));
  EXPECT_EQ(blocks[1].end, page.size());
}

TEST(PagesTest, TakesDirectivesFromReStructuredText) {
  const std::string page =
      ".. code-block:: bash\n"
      "\n"
      "   torchrun train.py\n"
      "\n"
      "Text.\n"
      ".. code-block:: python\n"
      "   import torch\n";
  EXPECT_EQ(ShellOnPage("docs/index.rst", page), "\n   torchrun train.py\n\n");
}

TEST(PagesTest, TakesLiteralBlocksOfCommandsFromReStructuredText) {
  const std::string page =
      "Start it so::\n"
      "\n"
      "    torchrun --nproc_per_node 4 train.py\n"
      "\n"
      "It prints::\n"
      "\n"
      "    epoch 1\n";
  EXPECT_EQ(ShellOnPage("docs/index.rst", page), "\n    torchrun --nproc_per_node 4 train.py\n\n");
}

}  // namespace
}  // namespace allranks::launch_files
