#include "driver/reports/secrets.h"

#include <gtest/gtest.h>

namespace allranks::reports {
namespace {

TEST(SecretsTest, ValuesBehindTellingNamesAreStars) {
  EXPECT_EQ(WithoutSecrets("WANDB_API_KEY=abc123 torchrun a.py"), "WANDB_API_KEY=****** torchrun a.py");
  EXPECT_EQ(WithoutSecrets("export HF_TOKEN=\"hf_x y\"\n"), "export HF_TOKEN=\"******\"\n");
  EXPECT_EQ(WithoutSecrets("train.py --hf_token=abc --lr 1"), "train.py --hf_token=*** --lr 1");
  EXPECT_EQ(WithoutSecrets("train.py --hf-token abc --lr 1"), "train.py --hf-token *** --lr 1");
  EXPECT_EQ(WithoutSecrets("password: hunter2\n"), "password: *******\n");
  EXPECT_EQ(WithoutSecrets("{\"api_key\": \"abc\", \"n\": 2}"), "{\"api_key\": \"***\", \"n\": 2}");
}

TEST(SecretsTest, OtherValuesAreShown) {
  for (const char* text : {"--max_tokens=5", "tokenizer: gpt2", "HF_TOKEN=$TOKEN", "NCCL_DEBUG=INFO", "token", "--token\n--lr 1"}) {
    EXPECT_EQ(WithoutSecrets(text), text);
  }
}

}  // namespace
}  // namespace allranks::reports
