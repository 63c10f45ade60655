// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/job_identity.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pinfold {
namespace {

TEST(JobIdentity, aTextOfTheBatchSystemIsMadePrintableAndShort) {
    EXPECT_EQ(identityText(""), std::nullopt);
    EXPECT_EQ(identityText("a\\b <img src=x onerror=alert(1)>"), "a\\b <img src=x onerror=alert(1)>") << "a backslash stays";
    EXPECT_EQ(identityText("two\nlines\xff"), "two\\x0alines\\xff");
    const auto cut = *identityText(std::string(300, 'x'));
    EXPECT_EQ(cut, std::string(253, 'x') + "…");
    for (const auto& text : {std::string("two\nlines\\"), std::string(300, '\n'), cut})
        EXPECT_EQ(identityText(*identityText(text)), identityText(text)) << "an adapter and pinfoldd both do it";
}

TEST(JobIdentity, pinfolddMakesAllTextsPrintableAndBoundsTheNodes) {
    JobIdentity identity{.jobName = "a\nb", .account = std::string(), .nodes = std::vector<std::string>(1000, "node\t1")};
    makePrintable(identity);
    EXPECT_EQ(identity.jobName, "a\\x0ab");
    EXPECT_EQ(identity.account, std::nullopt) << "an empty text says nothing";
    ASSERT_EQ(identity.nodes.size(), JobIdentity::kMostNodes);
    EXPECT_EQ(identity.nodes[0], "node\\x091");
}

TEST(JobIdentity, countsAllNodesAndNamesTheFirst) {
    JobIdentity identity;
    setNodes(identity, std::vector<std::string>(200, "n"));
    EXPECT_EQ(identity.nodes.size(), JobIdentity::kMostNodes);
    EXPECT_EQ(identity.nodeCount, 200U);
    setNodes(identity, {"a"});
    EXPECT_EQ(identity.nodeCount, 200U) << "somebody has counted";
}

TEST(Labels, takeNamesThatNeedNoQuotationMarksAnywhere) {
    for (const char* name : {"a", "Project", "9", "a.b-c_d", "x123456789012345678901234567890123456789012345678901234567890123"})
        EXPECT_TRUE(isLabelName(name)) << name;
    for (const char* name : {"", ".a", "-a", "_a", "a b", "a=b", "a\"b", "a/b", "ä", "a\n",
                             "x1234567890123456789012345678901234567890123456789012345678901234"})
        EXPECT_FALSE(isLabelName(name)) << name;
}

TEST(Labels, areBounded) {
    Labels labels;
    for (int n = 0; n < 16; ++n)
        labels["n" + std::to_string(n)] = std::string(256, 'x');
    EXPECT_TRUE(validate(labels));
    labels["n0"] += "x";
    EXPECT_FALSE(validate(labels));
    labels["n0"] = "";
    labels["one more"] = "";
    EXPECT_FALSE(validate(labels));
    labels.erase("one more");
    labels["n16"] = "";
    EXPECT_NE(validate(labels).error().message.find("17 labels: use at most 16"), std::string::npos);
}

TEST(Labels, takeOnlyPrintableValues) {
    for (const char* value : {"", "a=b", "\\", "'; DROP TABLE receipts", "<b>", "grün"})
        EXPECT_TRUE(validate({{"a", value}})) << value;
    for (const char* value : {"a\nb", "\x1b[31m", "\xff", "\xe2\x80\xae"})
        EXPECT_FALSE(validate({{"a", value}})) << value;
}

TEST(Labels, aLabelIsANameAndAValue) {
    Labels labels;
    ASSERT_TRUE(addLabel("a=b=c", labels));
    ASSERT_TRUE(addLabel("empty=", labels));
    ASSERT_TRUE(addLabel("a=later", labels));
    EXPECT_EQ(labels, (Labels{{"a", "later"}, {"empty", ""}}));
    for (const char* text : {"", "a", "=b", "a b=c"})
        EXPECT_FALSE(addLabel(text, labels)) << text;
}

TEST(Labels, aFilterHasAValueOrNone) {
    EXPECT_EQ(*labelFilter("a"), (LabelFilter{"a", std::nullopt}));
    EXPECT_EQ(*labelFilter("a="), (LabelFilter{"a", ""}));
    EXPECT_EQ(*labelFilter("a=b=c"), (LabelFilter{"a", "b=c"}));
    EXPECT_FALSE(labelFilter(""));
    EXPECT_FALSE(labelFilter("a\"') OR 1"));
}

} // namespace
} // namespace pinfold
